import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('examples/', import.meta.url);

/** Bodies by `<operation id>.<status>` and `<operation id>.request`, generated from the simulated platforms. */
const examples = new Map<string, unknown>(
  readdirSync(FOLDER).map((file) => [
    file.replace(/\.json$/, ''),
    JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as unknown,
  ]),
);

export const exampleOf = (name: string): unknown => examples.get(name);
