import { readFile } from 'node:fs/promises';

/** The rows of the first table below `### <title>` below `## <section>` of docs/orders.md: the texts of their cells. */
export async function docsTable(section: string, title: string): Promise<string[][]> {
  const text = await readFile(new URL('../../docs/orders.md', import.meta.url), 'utf8');
  const part = text.split(/^## /m).find((one) => one.startsWith(`${section}\n`)) ?? '';
  const below = part.split(/^### /m).find((one) => one.startsWith(`${title}\n`)) ?? '';
  const lines = below.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
