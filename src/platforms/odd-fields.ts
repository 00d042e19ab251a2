import type { z } from 'zod';
import type { JsonObject } from '../core/model.ts';

/** An entry of a list is taken out one pass after the field that it cannot be without. */
const MAX_PASSES = 6;

/** A field that was left out of its row, with `[]` for any entry of a list, and why. */
interface OddField {
  field: string;
  reason: string;
}

type Issue = z.core.$ZodIssue;
type Container = Record<PropertyKey, unknown>;

const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null;
const isObject = (value: unknown): boolean => isContainer(value) && !Array.isArray(value);

/** The row without the fields that failed with `error`. null if one is in `essential`, or if what fails is no field of the row. */
export function parseWithoutOdd<T>(
  schema: z.ZodType<T>,
  raw: JsonObject,
  error: z.ZodError,
  essential: readonly string[],
): { row: T; odd: OddField[] } | null {
  const rest: JsonObject = structuredClone(raw);
  const odd = new Map<string, string>();
  let { issues }: { issues: Issue[] } = error;
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    if (issues.some(({ path }) => typeof path[0] !== 'string' || isWithin(path, essential))) return null;
    const lists = new Set<unknown[]>();
    // If an object lacks two fields, the first one removes the object.
    const taken = issues.filter((issue) => takeOut(rest, issue, lists));
    if (taken.length === 0) return null;
    for (const issue of taken) {
      const field = fieldName(issue.path);
      if (!odd.has(field)) odd.set(field, issue.message);
    }
    for (const list of lists) closeHoles(list);
    const result = schema.safeParse(rest);
    if (result.success) return { row: result.data, odd: [...odd].map(([field, reason]) => ({ field, reason })) };
    issues = result.error.issues;
  }
  return null;
}

/** Whether a path is one of `essential`, or leads into it. */
const isWithin = (path: readonly PropertyKey[], essential: readonly string[]): boolean =>
  essential.some((field) => `${path.map(String).join('.')}.`.startsWith(`${field}.`));

/** `events[].icon`: the same for every entry of a list. */
const fieldName = (path: readonly PropertyKey[]): string =>
  path.map((key, at) => (typeof key === 'number' ? '[]' : `${at === 0 ? '' : '.'}${String(key)}`)).join('');

/**
 * Takes the failing value out of the row; if it is absent, the object that lacks it. An entry of a list is taken out only if it is, or
 * should be, an object: in a list of other values the position may have a meaning, so the whole list goes.
 */
function takeOut(row: JsonObject, issue: Issue, lists: Set<unknown[]>): boolean {
  const steps = stepsTo(row, issue.path);
  const isEntry = issue.code === 'invalid_type' && issue.expected === 'object' && steps.length === issue.path.length;
  for (const { holder, key } of steps.toReversed()) {
    if (!Array.isArray(holder)) {
      delete holder[key];
      return true;
    }
    const entry = holder[Number(key)];
    // Another issue of the same pass may have taken it out.
    if (isEntry || entry === undefined || isObject(entry)) {
      holder[Number(key)] = undefined;
      lists.add(holder);
      return true;
    }
  }
  return false;
}

/** The holders and keys along a path, as far as the row has them. */
function stepsTo(row: JsonObject, path: readonly PropertyKey[]): { holder: Container | unknown[]; key: PropertyKey }[] {
  const steps: { holder: Container | unknown[]; key: PropertyKey }[] = [];
  let value: unknown = row;
  for (const key of path) {
    if (!isContainer(value) || !(key in value)) break;
    steps.push({ holder: value, key });
    value = value[key];
  }
  return steps;
}

/** Removes the entries that were taken out; JSON itself has no undefined. */
function closeHoles(list: unknown[]): void {
  let end = 0;
  for (const entry of list) if (entry !== undefined) list[end++] = entry;
  list.length = end;
}
