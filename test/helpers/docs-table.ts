import { readFile } from 'node:fs/promises';
import type { RejectionRules } from '../../src/platforms/refusal-rules.ts';

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

/** Rejections as the table of a platform lists them. */
export const rejectionRows = (rules: RejectionRules): string[][] =>
  (['key', 'order'] as const).flatMap((about) => rules[about].map(({ says, resolution }) => [says, about, resolution]));
