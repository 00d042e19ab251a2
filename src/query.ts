import type { z } from 'zod';
import { badRequest, type FieldIssue } from './errors.ts';
import { isMarketId, toPlatform } from './parameters.ts';
import { PLATFORMS, type Platform } from './schemas.ts';

/** The parameters or body fields of an endpoint, by canonical name. */
export type Fields = Record<string, z.ZodType>;
export type Values<F extends Fields> = { [K in keyof F]: z.output<F[K]> };
export type Section = 'params' | 'query' | 'body';
/** What the fields of a body say together, as far as they were read; `failing` names those that were not. */
export type Together<B extends Fields> = (body: Partial<Values<B>>, failing: ReadonlySet<string>) => FieldIssue[];

/** Accepted on input, never shown in an answer. Where an endpoint has a parameter of the alias's own name, that one is meant. */
const ALIASES: Record<string, string> = {
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
};

const PREFIXED = /^([a-z_]+):(.+)$/s;
const SECRET = /password|secret|passphrase|private_?key|^key$|token|^fields/i;
/** API keys, which callers put in the wrong place. */
const KEY = /pk_[\w-]{8,}/g;
const HIDDEN = 'a value that is not shown';

/**
 * Reads the sections of a request against their fields: aliases resolved, unknown names refused, market ids checked
 * against the platform, the fields of the body held together. Throws one 400 that lists every failing field of all sections.
 */
export function readInput<F extends Partial<Record<Section, Fields>>>(
  sections: F,
  given: Record<Section, unknown>,
  together: Together<Fields> = () => [],
): { [S in keyof F]: F[S] extends Fields ? Values<F[S]> : undefined } {
  const issues: FieldIssue[] = [];
  const values: Partial<Record<Section, Record<string, unknown>>> = {};
  for (const section of ['params', 'query', 'body'] as const) {
    const fields = sections[section];
    if (!fields) continue;
    const raw = given[section] ?? {};
    if (typeof raw === 'object' && !Array.isArray(raw)) values[section] = readSection(section, fields, raw, issues);
    else issues.push({ field: section, expected: 'a JSON object', received: shown(section, raw) });
  }
  settleMarketIds(sections, values, issues);
  if (values.body) issues.push(...together(values.body, new Set(issues.map(({ field }) => field))));
  if (issues.length > 0) throw badRequest(issues);
  return values as { [S in keyof F]: F[S] extends Fields ? Values<F[S]> : undefined };
}

function readSection(section: Section, fields: Fields, raw: object, issues: FieldIssue[]): Record<string, unknown> {
  const named = new Map<string, unknown>();
  for (const [name, value] of Object.entries(raw)) {
    const field = Object.hasOwn(fields, name) ? name : (ALIASES[name] ?? name);
    if (!Object.hasOwn(fields, field)) {
      issues.push({
        field: name.slice(0, 60).replaceAll(KEY, 'pk_…'),
        expected: `no such parameter (nearest: ${nearest(name, fields)})`,
        // A mistyped field of a body may hold a secret.
        received: section === 'body' ? HIDDEN : shown(name, value),
      });
      continue;
    }
    // A query parameter given twice arrives as an array; in a body an array is a value like any other.
    for (const one of section === 'query' && Array.isArray(value) ? value : [value]) {
      if (!named.has(field)) named.set(field, one);
      else if (!same(field, named.get(field), one)) {
        issues.push({
          field,
          expected: 'one value',
          received: `${shown(field, named.get(field))} and ${shown(field, one)}`,
        });
      }
    }
  }
  const values: Record<string, unknown> = {};
  for (const [field, schema] of Object.entries(fields)) {
    const result = schema.safeParse(named.get(field));
    if (result.success) values[field] = result.data;
    else issues.push(...fieldIssues(field, named.get(field), result.error.issues));
  }
  const { start_ts: start, end_ts: end } = values;
  if (typeof start === 'number' && typeof end === 'number' && start >= end) {
    const [since, until] = ['start_ts', 'end_ts'].map((field) => shown(field, named.get(field)));
    issues.push({ field: 'start_ts', expected: 'a time before end_ts', received: `${since} with end_ts ${until}` });
  }
  return values;
}

/** The first rule that each path of a field breaks. */
export function fieldIssues(field: string, value: unknown, found: z.core.$ZodIssue[]): FieldIssue[] {
  const byPath = new Map<string, FieldIssue>();
  for (const { path, message } of found) {
    const name = [field, ...path.map(String)].join('.');
    if (!byPath.has(name)) byPath.set(name, { field: name, expected: message, received: shown(name, at(value, path)) });
  }
  return [...byPath.values()];
}

const same = (field: string, a: unknown, b: unknown): boolean =>
  a === b || ((field === 'provider' || field === 'platform') && toPlatform(a) === toPlatform(b));

/** Takes the `<platform>:` prefix off market ids; a platform that was left out is the one the prefix names. */
function settleMarketIds(
  sections: Partial<Record<Section, Fields>>,
  values: Partial<Record<Section, Record<string, unknown>>>,
  issues: FieldIssue[],
): void {
  const home = (['query', 'body'] as const).find(
    (s) => sections[s] && ('provider' in sections[s] || 'platform' in sections[s]),
  );
  const platformField = home && ('provider' in (sections[home] ?? {}) ? 'provider' : 'platform');
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
        const platform = (platforms[platformField] ??= named);
        if (platform !== named) {
          issues.push({
            field,
            expected: `a market id of ${platformField} ${String(platform)}`,
            received: shown(field, id),
          });
        }
        return rest;
      };
      read[field] = Array.isArray(value) ? [...new Set(value.map((id) => bare(String(id))))] : bare(String(value));
    }
  }
}

function at(value: unknown, path: PropertyKey[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown> | null | undefined)?.[key], value);
}

function shown(field: string, value: unknown): string {
  if (value === undefined) return 'nothing';
  if (SECRET.test(field)) return HIDDEN;
  const text = jsonOf(value).replaceAll(KEY, 'pk_…');
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}

/** A body is read however deep it nests, but cannot be written beyond some thousand levels. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return 'a value nested too deeply';
  }
}

function nearest(name: string, fields: Fields): string {
  const known = [...Object.keys(fields), ...Object.keys(ALIASES).filter((alias) => (ALIASES[alias] ?? '') in fields)];
  const best = known.toSorted((a, b) => distance(name, a) - distance(name, b))[0];
  if (best === undefined) return 'none, it takes no parameters';
  return best in fields ? best : (ALIASES[best] ?? best);
}

/** Levenshtein distance of the first 40 characters, ignoring case. */
function distance(a: string, b: string): number {
  const [left, right] = [a.slice(0, 40).toLowerCase(), b.slice(0, 40).toLowerCase()];
  let row = Array.from({ length: right.length + 1 }, (_, i) => i);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const swap = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
