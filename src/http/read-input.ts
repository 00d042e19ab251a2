import type { z } from 'zod';
import { badRequest, type FieldIssue, type FoundIssue } from '../core/errors.ts';
import { toPlatform } from '../schemas/parameters.ts';
import { type Fields, type Section, settleMarketIds } from './market-ids.ts';
import { nearestField } from './nearest-field.ts';
import { HIDDEN, shown, shownName, typeShown } from './shown-value.ts';

export type Values<F extends Fields> = { [K in keyof F]: z.output<F[K]> };
/** Checks across the fields of query and body; `failing` names the fields that are invalid by themselves, `given` those that are no default. */
export type Together<F extends Fields> = (
  values: Partial<Values<F>>,
  failing: ReadonlySet<string>,
  given: ReadonlySet<string>,
) => FoundIssue[];

/** Accepted on input, never used in answers. If an endpoint has a parameter with the name of an alias, the parameter wins. */
const ALIASES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    provider: 'platform',
    platform: 'provider',
    start: 'start_ts',
    start_time: 'start_ts',
    from: 'start_ts',
    end: 'end_ts',
    end_time: 'end_ts',
    to: 'end_ts',
    sort: 'sort_by',
    sort_by: 'sort',
    minimum_size: 'min_size',
    minSize: 'min_size',
    taker_only: 'takerOnly',
    address: 'user',
    username: 'user',
    user_id: 'user',
    market_id: 'market_ids',
    q: 'query',
    search: 'query',
    includeRaw: 'include_raw',
  }),
);

/** Bounds the time and length of an answer to a body of up to 64 KiB. */
const UNKNOWN_NAMED = 20;
const PATHS_NAMED = 20;
/** More than any list accepts: each invalid item produces its own issue. */
const MOST_ITEMS = 500;
/** Parameters that begin and end a time span; a span of days includes both ends. */
const SPANS = [
  { from: 'start_ts', to: 'end_ts', isSameWrong: true },
  { from: 'ends_after', to: 'ends_before', isSameWrong: true },
  { from: 'from', to: 'to', isSameWrong: false },
] as const;

/**
 * Parses the sections of requests by their fields: resolves aliases, rejects unknown names unless `ignoresUnknown`, checks market ids
 * against the platform, and checks fields together. Throws one 400 that lists every failing field of all sections.
 */
export function inputReader<F extends Partial<Record<Section, Fields>>>(
  sections: F,
  together: Together<Fields> = () => [],
  ignoresUnknown = false,
): (given: Partial<Record<Section, unknown>>) => { [S in keyof F]: F[S] extends Fields ? Values<F[S]> : undefined } {
  const readers = (['params', 'query', 'body'] as const).flatMap((section) => {
    const fields = sections[section];
    return fields ? [{ section, fields, known: spellings(fields), ignoresUnknown }] : [];
  });
  return (given) => {
    const issues: FieldIssue[] = [];
    const values: Partial<Record<Section, Record<string, unknown>>> = {};
    const asGiven = new Map<string, unknown>();
    for (const { section, ...reader } of readers) {
      const raw = given[section] ?? {};
      if (typeof raw === 'object' && !Array.isArray(raw)) {
        const read = readSection(section, reader, raw as Record<string, unknown>);
        values[section] = read.values;
        issues.push(...read.issues);
        for (const [field, value] of read.named) asGiven.set(field, value);
      } else issues.push({ field: section, expected: 'a JSON object', received: typeShown(raw) });
    }
    issues.push(...settleMarketIds(sections, values));
    if (readers.every(({ section }) => values[section] !== undefined)) {
      const failing = new Set(issues.map(({ field }) => field));
      const found = together({ ...values.query, ...values.body }, failing, new Set(asGiven.keys()));
      for (const { field, expected, received = shown(field, asGiven.get(field)) } of found)
        issues.push({ field, expected, received });
    }
    if (issues.length > 0) throw badRequest(issues);
    return values as { [S in keyof F]: F[S] extends Fields ? Values<F[S]> : undefined };
  };
}

/** The fields of a section, and each accepted name with its canonical one. */
interface SectionReader {
  fields: Fields;
  known: ReadonlyMap<string, string>;
  ignoresUnknown: boolean;
}

function spellings(fields: Fields): ReadonlyMap<string, string> {
  const known = new Map(Object.keys(fields).map((field) => [field, field]));
  for (const [alias, field] of ALIASES) if (Object.hasOwn(fields, field) && !known.has(alias)) known.set(alias, field);
  return known;
}

interface SectionRead {
  values: Record<string, unknown>;
  /** The values as given, by canonical name. */
  named: ReadonlyMap<string, unknown>;
  issues: FieldIssue[];
}

function readSection(section: Section, reader: SectionReader, given: Record<string, unknown>): SectionRead {
  const { named, issues: ofNames } = namedValues(section, reader, given);
  const { values, issues: ofValues } = parsedValues(reader.fields, named);
  return { values, named, issues: [...ofNames, ...ofValues, ...spanIssues(values, named)] };
}

/** The values of known names by canonical name; issues of unknown names, and of aliases with different values. */
function namedValues(
  section: Section,
  { known, ignoresUnknown }: SectionReader,
  given: Record<string, unknown>,
): Pick<SectionRead, 'named' | 'issues'> {
  const named = new Map<string, unknown>();
  const issues: FieldIssue[] = [];
  const differing = new Set<string>();
  let unknown = 0;
  for (const [name, value] of Object.entries(given)) {
    const field = known.get(name);
    if (field === undefined) {
      if (ignoresUnknown) continue;
      unknown += 1;
      if (unknown <= UNKNOWN_NAMED) issues.push(unknownField(section, name, value, known));
      continue;
    }
    // A query parameter given twice arrives as an array; in a body an array is a value like any other.
    for (const one of section === 'query' && Array.isArray(value) ? value : [value]) {
      if (!named.has(field)) named.set(field, one);
      else if (!differing.has(field) && !same(field, named.get(field), one)) {
        differing.add(field);
        const received = `${shown(field, named.get(field))} and ${shown(field, one)}`;
        issues.push({ field, expected: 'one value', received });
      }
    }
  }
  if (unknown > UNKNOWN_NAMED) {
    const received = `${unknown - UNKNOWN_NAMED} more unknown parameters`;
    issues.push({ field: section, expected: 'known parameters only', received });
  }
  return { named, issues };
}

/** The values that their schemas accept, and the issues of the others. */
function parsedValues(fields: Fields, named: SectionRead['named']): Pick<SectionRead, 'values' | 'issues'> {
  const values: Record<string, unknown> = {};
  const issues: FieldIssue[] = [];
  for (const [field, schema] of Object.entries(fields)) {
    const value = named.get(field);
    if (Array.isArray(value) && value.length > MOST_ITEMS) {
      issues.push({ field, expected: `at most ${MOST_ITEMS} items`, received: `${value.length} items` });
      continue;
    }
    const result = schema.safeParse(value);
    if (result.success) values[field] = result.data;
    else issues.push(...fieldIssues(field, value, result.error.issues));
  }
  return { values, issues };
}

/** The issues of spans that end before they start. */
const spanIssues = (values: SectionRead['values'], named: SectionRead['named']): FieldIssue[] =>
  SPANS.flatMap(({ from, to, isSameWrong }) => {
    const [start, end] = [values[from], values[to]];
    if (typeof start !== 'number' || typeof end !== 'number' || start < end || (start === end && !isSameWrong))
      return [];
    const [since, until] = [from, to].map((field) => shown(field, named.get(field)));
    const expected = `a time ${isSameWrong ? 'before' : 'not after'} ${to}`;
    return [{ field: from, expected, received: `${since} with ${to} ${until}` }];
  });

/** The first broken rule of each path in a field. */
export function fieldIssues(field: string, value: unknown, found: z.core.$ZodIssue[]): FieldIssue[] {
  const byPath = new Map<string, FieldIssue>();
  for (const { path, message } of found) {
    const name = [field, ...path.map(String)].join('.');
    if (byPath.size === PATHS_NAMED) break;
    if (!byPath.has(name)) byPath.set(name, { field: name, expected: message, received: shown(name, at(value, path)) });
  }
  return [...byPath.values()];
}

const same = (field: string, a: unknown, b: unknown): boolean =>
  a === b || ((field === 'provider' || field === 'platform') && toPlatform(a) === toPlatform(b));

function unknownField(section: Section, name: string, value: unknown, known: ReadonlyMap<string, string>): FieldIssue {
  return {
    field: shownName(name),
    expected: `no such parameter (nearest: ${nearestField(name, known)})`,
    // A mistyped field of a body may hold a secret.
    received: section === 'body' ? HIDDEN : shown(name, value),
  };
}

function at(value: unknown, path: PropertyKey[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown> | null | undefined)?.[key], value);
}
