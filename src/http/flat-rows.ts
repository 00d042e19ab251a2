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
export const flatColumns = (row: z.ZodObject): Column[] =>
  Object.entries(row.shape).flatMap(([name, field]) => columnsOf(name, field, false, (one) => inside(one, name)));

function columnsOf(name: string, schema: unknown, isOptional: boolean, value: Column['value']): Column[] {
  if (schema instanceof z.ZodOptional) return columnsOf(name, schema.unwrap(), true, value);
  if (schema instanceof z.ZodNullable) return columnsOf(name, schema.unwrap(), isOptional, value);
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape).flatMap(([inner, field]) =>
      columnsOf(`${name}_${inner}`, field, isOptional, (row) => inside(value(row), inner)),
    );
  if (!(schema instanceof z.ZodRecord) || !isByOutcome(schema.valueType))
    return [{ name, field: schema, isOptional, value }];
  const { valueType } = schema;
  return SIDES.flatMap((side, at) => {
    const ofSide: Column['value'] = (row) => inside(value(row), outcomeAt(row, value(row), at));
    if (!(valueType instanceof z.ZodObject)) return columnsOf(`${side}_${name}`, valueType, isOptional, ofSide);
    return Object.entries(valueType.shape).flatMap(([inner, field]) =>
      columnsOf(`${side}_${inner}`, field, isOptional, (row) => inside(ofSide(row), inner)),
    );
  });
}

/** Free-form objects have values of any type. */
const isByOutcome = (values: unknown): boolean => values instanceof z.ZodObject || values instanceof z.ZodNumber;

/** The id of an outcome by its position: a record alone would put ids that are numbers first. */
function outcomeAt(row: unknown, record: unknown, at: number): string {
  const outcomes = inside(row, 'outcomes');
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
