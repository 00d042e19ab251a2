import { z } from 'zod';
import { parseDecimal, parsePrice, parseSize, parseUsd } from '../decimal.ts';
import { PlatformError } from '../errors.ts';
import type { JsonObject, Platform } from '../schemas.ts';
import type { PlatformReply } from './http.ts';
import type { BadRow, ReadContext } from './platform.ts';

function decimal(parse: (input: string | number) => bigint) {
  return z.union([z.string(), z.number()]).transform((input, context) => {
    try {
      return parse(input);
    } catch {
      context.addIssue({ code: 'custom', message: `not a decimal: ${JSON.stringify(input).slice(0, 40)}` });
      return z.NEVER;
    }
  });
}

/** Decimal texts or JSON numbers of a platform's row, as scaled integers. */
export const wirePrice = decimal(parsePrice);
export const wireSize = decimal(parseSize);
export const wireUsd = decimal(parseUsd);
/** Whole base units of a token, unscaled. */
export const wireBaseUnits = decimal((input) => parseDecimal(input, 0));
/** An optional text: absent and null are ''. */
export const wireText = z
  .string()
  .nullish()
  .transform((text) => text ?? '');

/** A row as the mapper wants it, and as it was received. */
export interface ParsedRow<T> {
  row: T;
  raw: JsonObject;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `path: message` of the first failing field. */
function firstIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  return issue ? `${issue.path.join('.') || 'row'}: ${issue.message}` : 'invalid';
}

/** One row through its schema; null after the context was told what was wrong. `idKey` names the key that identifies it. */
export function parseRow<T>(
  schema: z.ZodType<T>,
  raw: unknown,
  about: { platform: Platform; kind: BadRow['kind']; idKey: string },
  context: ReadContext,
): ParsedRow<T> | null {
  const result = schema.safeParse(raw);
  if (result.success && isObject(raw)) return { row: result.data, raw };
  const id = isObject(raw) ? raw[about.idKey] : undefined;
  context.onBadRow({
    platform: about.platform,
    kind: about.kind,
    id: typeof id === 'string' || typeof id === 'number' ? String(id).slice(0, 200) : '',
    reason: result.success ? 'row: not an object' : firstIssue(result.error),
  });
  return null;
}

/** The good ones of a page's rows, in order. */
export function parseRows<T>(
  schema: z.ZodType<T>,
  rows: readonly unknown[],
  about: { platform: Platform; kind: BadRow['kind']; idKey: string },
  context: ReadContext,
): ParsedRow<T>[] {
  const good: ParsedRow<T>[] = [];
  for (const raw of rows) {
    const parsed = parseRow(schema, raw, about, context);
    if (parsed) good.push(parsed);
  }
  return good;
}

/** The body of a reply; throws PlatformError `bad_answer`, naming `endpoint` if given, when the whole is not of the expected shape. */
export function parseBody<T>(platform: Platform, schema: z.ZodType<T>, reply: PlatformReply, endpoint?: string): T {
  const result = schema.safeParse(reply.json);
  if (result.success) return result.data;
  const issue = firstIssue(result.error);
  const detail = endpoint === undefined ? issue : `${endpoint}: ${issue}`;
  throw new PlatformError(platform, 'bad_answer', { status: reply.status, detail });
}

/** Whether a read failed because the platform does not have the thing. */
export const isNotFound = (error: unknown): error is PlatformError =>
  error instanceof PlatformError && error.kind === 'not_found';
