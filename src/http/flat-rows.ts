import { z } from 'zod';

/** A column of a list in CSV, Parquet and Arrow. */
export interface Column {
  name: string;
  /** Schema of its value. */
  field: unknown;
  /** Absent from most answers: it is written if a row has it. */
  isOptional: boolean;
  /** The value in a row; undefined if the row lacks it. */
  value(row: unknown): unknown;
}

/** Outcomes by position: of these two, records by outcome have columns. A third outcome is rare, and in JSON only. */
const SIDES = ['yes', 'no'] as const;

/**
 * The columns of rows of this schema, the same for every page: nested fields are joined by `_`, and records by outcome become
 * `yes_…` of the first and `no_…` of the second outcome. Lists and free-form objects stay one column.
 */
export const flatColumns = (row: z.ZodObject): Column[] => columnsIn('', row, false, (one) => one);

/** The columns of an object's fields. `prefix` are the names of the objects around it. */
function columnsIn(prefix: string, { shape }: z.ZodObject, isOptional: boolean, owner: Column['value']): Column[] {
  return Object.entries(shape).flatMap(([name, field]) => columnsOf(prefix, name, field, isOptional, owner));
}

function columnsOf(
  prefix: string,
  name: string,
  schema: unknown,
  isOptional: boolean,
  owner: Column['value'],
): Column[] {
  const value: Column['value'] = (row) => inside(owner(row), name);
  if (schema instanceof z.ZodOptional) return columnsOf(prefix, name, schema.unwrap(), true, owner);
  if (schema instanceof z.ZodNullable) return columnsOf(prefix, name, schema.unwrap(), isOptional, owner);
  if (schema instanceof z.ZodObject) return columnsIn(`${prefix}${name}_`, schema, isOptional, value);
  const valueType = schema instanceof z.ZodRecord ? bare(schema.valueType) : null;
  if (!isByOutcome(valueType)) return [{ name: `${prefix}${name}`, field: schema, isOptional, value }];
  return SIDES.flatMap((side, at) => {
    const ofSide: Column['value'] = (row) => inside(value(row), outcomeAt(owner(row), value(row), at));
    if (valueType instanceof z.ZodObject) return columnsIn(`${prefix}${side}_`, valueType, isOptional, ofSide);
    return [{ name: `${prefix}${side}_${name}`, field: valueType, isOptional, value: ofSide }];
  });
}

/** A schema without what allows null or nothing. */
const bare = (schema: unknown): unknown =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ? bare(schema.unwrap()) : schema;

/** Free-form objects have values of any type. */
const isByOutcome = (values: unknown): values is z.ZodObject | z.ZodNumber =>
  values instanceof z.ZodObject || values instanceof z.ZodNumber;

/** The id of an outcome by its position: a record alone would put ids that are numbers first. */
function outcomeAt(owner: unknown, record: unknown, at: number): string {
  const outcomes = inside(owner, 'outcomes');
  const ids = Array.isArray(outcomes) ? outcomes.map((one) => inside(one, 'id')) : Object.keys(record ?? {});
  return String(ids[at] ?? '');
}

const inside = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;

/** The value of a cell: lists of names as `a;b`, other lists and objects as JSON text. */
export function cellOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const names = value.map((one: unknown) => (typeof one === 'string' ? one : inside(one, 'name')));
    if (names.every((name) => typeof name === 'string')) return names.join(';');
  }
  return JSON.stringify(value);
}

/** The columns that these rows have. */
export const presentColumns = (columns: readonly Column[], rows: readonly object[]): Column[] =>
  columns.filter(({ isOptional, value }) => !isOptional || rows.some((row) => value(row) !== undefined));
