import { readFileSync } from 'node:fs';

/** Values bound to {name:Type} placeholders; the client formats them. */
export type QueryParams = Record<string, unknown>;

const QUERIES = new URL('../../../sql/queries/', import.meta.url);

/** A query file as it is sent with these parameters, and those of them that are defined. */
export type StatementOf = (name: string, params: QueryParams) => { text: string; params: QueryParams };

/** A clause of a query file that only counts if the parameter is given. */
const OPTIONAL = /\/\* with (\w+) \*\/(.*?)\/\* end \*\//gs;

/** Query files without clauses of undefined parameters: the engine takes as long for a condition that is always true. */
export function namedStatements(folder: URL = QUERIES): StatementOf {
  const texts = new Map<string, string>();
  return (name, params) => {
    let text = texts.get(name);
    if (text === undefined) {
      text = readFileSync(new URL(`${name}.sql`, folder), 'utf8')
        .trim()
        .replace(/;$/, '');
      texts.set(name, text);
    }
    const isGiven = (param: string): boolean => params[param] !== undefined;
    return {
      text: text.replace(OPTIONAL, (_all, param: string, clause: string) => (isGiven(param) ? clause : '')),
      params: Object.fromEntries(Object.entries(params).filter(([param]) => isGiven(param))),
    };
  };
}
