import type { z } from 'zod';
import type { FieldIssue } from '../core/errors.ts';
import { PLATFORMS, type Platform } from '../core/model.ts';
import { listText } from '../core/text.ts';
import { isMarketId, isPlatformList, type ListedId, toPlatform } from '../schemas/parameters.ts';
import { shown } from './shown-value.ts';

/** The parameters or body fields of an endpoint, by canonical name. */
export type Fields = Record<string, z.ZodType>;
export type Section = 'params' | 'query' | 'body';

const PREFIXED = /^([a-z_]+):(.+)$/s;

/** The parsed values of each section, by canonical name. */
type SectionValues = Partial<Record<Section, Record<string, unknown>>>;

/** The parameter that names the platform, and whether it is a list. */
interface PlatformField {
  section: Section;
  field: 'provider' | 'platform';
  isList: boolean;
}

/**
 * Removes the `<platform>:` prefix of ids in the values. Without a platform parameter, the prefix sets it, and it limits a list of
 * platforms. Returns the issues of prefixes that contradict the parameter.
 */
export function settleMarketIds(sections: Partial<Record<Section, Fields>>, values: SectionValues): FieldIssue[] {
  const home = platformFieldOf(sections);
  const issues: FieldIssue[] = [];
  for (const section of ['params', 'query', 'body'] as const) {
    const read = values[section];
    for (const [field, schema] of Object.entries(sections[section] ?? {})) {
      const value = read?.[field];
      if (!read || value === undefined || !isMarketId(schema)) continue;
      read[field] = eachId(value, (id) =>
        home ? bareId({ field, id }, home, values[home.section] ?? {}, issues) : id,
      );
    }
  }
  return issues;
}

function platformFieldOf(sections: Partial<Record<Section, Fields>>): PlatformField | null {
  for (const section of ['query', 'body'] as const)
    for (const field of ['provider', 'platform'] as const) {
      const schema = sections[section]?.[field];
      if (schema) return { section, field, isList: isPlatformList(schema) };
    }
  return null;
}

/** An id without its prefix. The prefix sets or limits the platform in `platforms`, or adds an issue. */
function bareId(
  { field, id }: { field: string; id: string },
  home: PlatformField,
  platforms: Record<string, unknown>,
  issues: FieldIssue[],
): string {
  const [, prefix, rest = ''] = PREFIXED.exec(id) ?? [];
  const named = toPlatform(prefix) as Platform;
  if (!PLATFORMS.includes(named)) return id;
  if (!(home.field in platforms)) return rest;
  const asked = [platforms[home.field] ?? named].flat().map(String);
  if (asked.includes(named)) platforms[home.field] = home.isList ? [named] : named;
  else {
    const expected = `an id of ${home.field} ${listText(asked, 'or')}`;
    issues.push({ field, expected, received: shown(field, id) });
  }
  return rest;
}

/** The id, or the ids of a list without duplicates: the first one stays. */
function eachId(value: unknown, bare: (id: string) => string): unknown {
  if (!Array.isArray(value)) return bare(String(value));
  if (!value.every(isListedId)) return [...new Set(value.map((id) => bare(String(id))))];
  const found = new Map<string, ListedId>();
  for (const { given } of value) {
    const id = bare(given);
    if (!found.has(id)) found.set(id, { id, given });
  }
  return [...found.values()];
}

const isListedId = (value: unknown): value is ListedId => typeof value === 'object' && value !== null;
