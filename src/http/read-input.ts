import type { z } from 'zod';
import { badRequest, type FieldIssue, type FoundIssue } from '../core/errors.ts';
import { isMarketId, isPlatformList, type ListedId, toPlatform } from '../schemas/parameters.ts';
import { PLATFORMS, type Platform } from '../core/model.ts';
import { listText } from '../core/text.ts';
import { nearestField } from './nearest-field.ts';

/** The parameters or body fields of an endpoint, by canonical name. */
export type Fields = Record<string, z.ZodType>;
export type Values<F extends Fields> = { [K in keyof F]: z.output<F[K]> };
type Section = 'params' | 'query' | 'body';
/** Checks across the fields of query and body; `failing` names the fields that are invalid by themselves. */
export type Together<F extends Fields> = (values: Partial<Values<F>>, failing: ReadonlySet<string>) => FoundIssue[];

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

const PREFIXED = /^([a-z_]+):(.+)$/s;
const SECRET = /password|secret|passphrase|private_?key|^key$|token|^fields/i;
/** API keys that callers put in the wrong place, whole or truncated. */
const KEY = /pk_[\w-]{8,}|pk_[\w-]*$/g;
const HIDDEN = 'a value that is not shown';

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
const NAME_BYTES = 120;
const VALUE_BYTES = 180;
/** Enough to show 120 characters after keys are removed. */
const READ_LENGTH = 400;

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
        const read = readSection(section, reader, raw, issues);
        values[section] = read.values;
        for (const [field, value] of read.named) asGiven.set(field, value);
      } else issues.push({ field: section, expected: 'a JSON object', received: typeShown(raw) });
    }
    settleMarketIds(sections, values, issues);
    if (readers.every(({ section }) => values[section] !== undefined)) {
      const found = together({ ...values.query, ...values.body }, new Set(issues.map(({ field }) => field)));
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

function readSection(
  section: Section,
  { fields, known, ignoresUnknown }: SectionReader,
  raw: object,
  issues: FieldIssue[],
): { values: Record<string, unknown>; named: ReadonlyMap<string, unknown> } {
  const named = new Map<string, unknown>();
  const differing = new Set<string>();
  let unknown = 0;
  const given = raw as Record<string, unknown>;
  for (const name of Object.keys(given)) {
    const field = known.get(name);
    if (field === undefined) {
      if (ignoresUnknown) continue;
      unknown += 1;
      if (unknown <= UNKNOWN_NAMED) issues.push(unknownField(section, name, given[name], known));
      continue;
    }
    const value = given[name];
    // A query parameter given twice arrives as an array; in a body an array is a value like any other.
    for (const one of section === 'query' && Array.isArray(value) ? value : [value]) {
      if (!named.has(field)) named.set(field, one);
      else if (!differing.has(field) && !same(field, named.get(field), one)) {
        differing.add(field);
        issues.push({
          field,
          expected: 'one value',
          received: `${shown(field, named.get(field))} and ${shown(field, one)}`,
        });
      }
    }
  }
  if (unknown > UNKNOWN_NAMED) {
    const received = `${unknown - UNKNOWN_NAMED} more unknown parameters`;
    issues.push({ field: section, expected: 'known parameters only', received });
  }
  const values: Record<string, unknown> = {};
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
  for (const { from, to, isSameWrong } of SPANS) {
    const [start, end] = [values[from], values[to]];
    if (typeof start !== 'number' || typeof end !== 'number' || start < end || (start === end && !isSameWrong))
      continue;
    const [since, until] = [from, to].map((field) => shown(field, named.get(field)));
    const expected = `a time ${isSameWrong ? 'before' : 'not after'} ${to}`;
    issues.push({ field: from, expected, received: `${since} with ${to} ${until}` });
  }
  return { values, named };
}

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

/** Removes the `<platform>:` prefix of ids; without a platform parameter, the prefix sets it, and it limits a list of platforms. */
function settleMarketIds(
  sections: Partial<Record<Section, Fields>>,
  values: Partial<Record<Section, Record<string, unknown>>>,
  issues: FieldIssue[],
): void {
  const home = (['query', 'body'] as const).find(
    (s) => sections[s] && ('provider' in sections[s] || 'platform' in sections[s]),
  );
  const platformField = home && ('provider' in (sections[home] ?? {}) ? 'provider' : 'platform');
  const platformSchema = home && platformField && sections[home]?.[platformField];
  const isList = platformSchema !== undefined && isPlatformList(platformSchema);
  for (const section of ['params', 'query', 'body'] as const) {
    const read = values[section];
    for (const [field, schema] of Object.entries(sections[section] ?? {})) {
      const value = read?.[field];
      if (!read || value === undefined || !isMarketId(schema)) continue;
      const bare = (id: string): string => {
        const [, prefix, rest = ''] = PREFIXED.exec(id) ?? [];
        const named = toPlatform(prefix) as Platform;
        if (!PLATFORMS.includes(named) || !home || !platformField) return id;
        const platforms = values[home] ?? {};
        if (!(platformField in platforms)) return rest;
        const asked = [platforms[platformField] ?? named].flat().map(String);
        if (asked.includes(named)) platforms[platformField] = isList ? [named] : named;
        else {
          const expected = `an id of ${platformField} ${listText(asked, 'or')}`;
          issues.push({ field, expected, received: shown(field, id) });
        }
        return rest;
      };
      if (Array.isArray(value)) read[field] = value.every(isListedId) ? listed(value, bare) : unique(value, bare);
      else read[field] = bare(String(value));
    }
  }
}

const unique = (ids: readonly unknown[], bare: (id: string) => string): string[] => [
  ...new Set(ids.map((id) => bare(String(id)))),
];

const isListedId = (value: unknown): value is ListedId => typeof value === 'object' && value !== null;

/** Removes duplicates after the prefixes are removed; the first one stays. */
function listed(ids: readonly ListedId[], bare: (id: string) => string): ListedId[] {
  const found = new Map<string, ListedId>();
  for (const { given } of ids) {
    const id = bare(given);
    if (!found.has(id)) found.set(id, { id, given });
  }
  return [...found.values()];
}

function unknownField(section: Section, name: string, value: unknown, known: ReadonlyMap<string, string>): FieldIssue {
  return {
    field: brief(name.slice(0, 60).replaceAll(KEY, 'pk_…'), NAME_BYTES),
    expected: `no such parameter (nearest: ${nearestField(name, known)})`,
    // A mistyped field of a body may hold a secret.
    received: section === 'body' ? HIDDEN : shown(name, value),
  };
}

function at(value: unknown, path: PropertyKey[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown> | null | undefined)?.[key], value);
}

function shown(field: string, value: unknown): string {
  if (value === undefined) return 'nothing';
  if (SECRET.test(field)) return HIDDEN;
  if (typeof value === 'object' && value !== null) return typeShown(value);
  const short = typeof value === 'string' ? value.slice(0, READ_LENGTH) : value;
  const text = JSON.stringify(short).slice(0, READ_LENGTH).replaceAll(KEY, 'pk_…');
  return brief(text.length > 120 ? `${text.slice(0, 120)}…` : text, VALUE_BYTES);
}

/** The type alone: any part of a value with unknown fields may be a secret. */
function typeShown(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object') return 'an object';
  return typeof value === 'string' ? 'text' : `a ${typeof value}`;
}

/** The start of the text that takes at most `bytes` in the answer, where a control character takes six. */
function brief(text: string, bytes: number): string {
  if (encodedBytes(text) <= bytes) return text;
  let left = bytes;
  const kept = [...text].findIndex((character) => (left -= encodedBytes(character)) < 0);
  return `${[...text].slice(0, kept).join('')}…`;
}
const encodedBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;
