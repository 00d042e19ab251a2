import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import manifest from '../../package.json' with { type: 'json' };
import { ConfigError } from '../core/config-error.ts';
import { bareSql } from '../core/sql-text.ts';

/** A view or a function: it holds no data, so that the file of its name defines it again whenever its text has changed. */
export interface Definition {
  name: string;
  text: string;
  checksum: string;
  /** The release that defines it so. */
  release: string;
}

/** The columns of the tables in which both stores record what is defined. */
export type Defined = Pick<Definition, 'name' | 'checksum' | 'release'>;

/** The files of `folder`; each one follows those whose names it uses. */
export function readDefinitions(folder: URL): Definition[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.sql'));
  const texts = new Map(
    files.toSorted().map((file) => [file.slice(0, -4), readFileSync(new URL(file, folder), 'utf8')]),
  );
  const ordered = new Set<string>();
  const begun = new Set<string>();
  const add = (name: string): void => {
    if (begun.has(name)) return;
    begun.add(name);
    // The body of a function uses names too.
    for (const word of bareSql((texts.get(name) ?? '').replaceAll('$$', ' ')).split(/\W+/)) {
      if (texts.has(word)) add(word);
    }
    ordered.add(name);
  };
  for (const name of texts.keys()) add(name);
  return [...ordered].map((name) => {
    const text = texts.get(name) ?? '';
    return { name, text, checksum: createHash('sha256').update(text).digest('hex'), release: manifest.version };
  });
}

/** The definitions that `store` lacks or has in another text. Throws ConfigError if that text is a newer release's. */
export function changedDefinitions(
  store: string,
  definitions: readonly Definition[],
  defined: readonly Defined[],
): Definition[] {
  const known = new Map(defined.map((row) => [row.name, row]));
  const changed = definitions.filter(({ name, checksum }) => known.get(name)?.checksum !== checksum);
  for (const { name, release } of changed) {
    const newer = known.get(name)?.release ?? release;
    if (newer.localeCompare(release, 'en', { numeric: true }) > 0)
      throw new ConfigError(
        `${store}: ${name} is defined by release ${newer}, this is ${release}: run a newer release`,
      );
  }
  return changed;
}
