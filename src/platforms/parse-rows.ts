import { z } from 'zod';
import { ONE_PRICE, parseDecimal, parsePrice, parseSize, parseUsd } from '../core/decimal.ts';
import { PlatformError } from '../core/errors.ts';
import type { JsonObject, Platform } from '../core/model.ts';
import { errorWords, NotSentError } from './http/errors.ts';
import type { PlatformReply } from './http/request.ts';
import type { BadRow, ReadContext } from './contract.ts';
import { isTimeOrUnknown } from './market-fields.ts';
import { parseWithoutOdd } from './odd-fields.ts';

/** Decimal columns of the store hold 18 digits; one larger number would make every insert of its batch fail. */
const STORABLE = 10n ** 18n;
export const isStorable = (scaled: bigint): boolean => scaled < STORABLE && scaled > -STORABLE;

const storable = (scaled: bigint): string | null => (isStorable(scaled) ? null : 'larger than any such number can be');

/** `fault` describes an invalid decimal, `unread` an input that `parse` throws on. Zod's own transform allocates a closure per value, which costs more than the parsing. */
function decimal<T extends string | number>(
  schema: z.ZodType<T>,
  parse: (input: T) => bigint,
  fault: (scaled: bigint) => string | null = storable,
  unread = 'not a decimal',
) {
  const transform = (input: unknown, payload: z.core.ParsePayload): bigint => {
    let message: string | null = unread;
    try {
      const scaled = parse(input as T);
      message = fault(scaled);
      if (message === null) return scaled;
    } catch {
      // The message says so.
    }
    payload.issues.push({ code: 'custom', input, message: `${message}: ${JSON.stringify(input).slice(0, 40)}` });
    return z.NEVER;
  };
  const scaled = new z.core.$ZodTransform({ type: 'transform', transform });
  return z.pipe(schema, scaled as z.core.$ZodTransform<bigint, T>);
}

const digits = z.union([z.string(), z.number()]);
/** Decimal texts or JSON numbers of a platform's row, as scaled integers. */
export const wirePrice = decimal(digits, parsePrice);
export const wireSize = decimal(digits, parseSize);
export const wireUsd = decimal(digits, parseUsd);
/** A volume, liquidity or open interest: an amount that is never below 0. */
export const wireVolume = decimal(digits, parseUsd, (usd) => (usd < 0n ? 'below 0' : storable(usd)));
const WHOLE = /^\s*[+-]?\d+\s*$/;
/** More decimal places than any wire text has. */
const FINEST = 63;
const NOT_WHOLE = 'not a whole number of base units';

/** Base units are whole: a fraction is an amount in other units. */
function parseUnits(input: string | number): bigint {
  const units = parseDecimal(input, 0);
  const isWhole = typeof input === 'number' ? Number.isInteger(input) : WHOLE.test(input);
  if (isWhole || parseDecimal(input, FINEST) === units * 10n ** BigInt(FINEST)) return units;
  throw new RangeError(NOT_WHOLE);
}

const levelFault = (size: bigint): string | null => (size < 0n ? 'below 0' : storable(size));
/** A size of a level of a book; 0 = no level. */
export const wireLevelSize = decimal(digits, parseSize, levelFault);
/** The same in base units of 1e-6, the scale of our sizes. */
export const wireLevelUnits = decimal(digits, parseUnits, levelFault, NOT_WHOLE);
/** Valid prices of a trade, a quote or a payout: 81 or −5 is in other units, or not a price. */
export const isTradePrice = (price: bigint): boolean => price >= 0n && price <= ONE_PRICE;
export const isTradeSize = (size: bigint): boolean => size > 0n;
export const wireTradePrice = decimal(digits, parsePrice, (price) =>
  isTradePrice(price) ? null : 'expected a price of 0 to 1',
);
/** A price that was paid: platforms print 0 for none. */
export const wirePaidPrice = decimal(digits, parsePrice, (price) =>
  isTradePrice(price) && price > 0n ? null : 'expected a price above 0, at most 1',
);
export const wireTradeSize = decimal(digits, parseSize, (size) =>
  isTradeSize(size) ? storable(size) : 'expected a size above 0',
);
/** Whole cents, parsed to a price. */
export const wireCents = decimal(z.int(), (cents) => parsePrice(cents) / 100n);
/** A part of a whole in any unit: only its relation to the other parts counts. */
export const wireWeight = decimal(digits, parsePrice, () => null);
/** Whole base units of a token, unscaled; tokens with 18 decimals need more digits than any column. */
export const wireBaseUnits = decimal(digits, parseUnits, () => null, NOT_WHOLE);
/** A whole number, which may be sent as a text. */
export const wireInteger = z.union([
  z.int(),
  z
    .string()
    .regex(/^-?\d{1,15}$/, 'not a whole number')
    .transform(Number),
]);
/** An optional text: absent and null are '', a number is its text. */
export const wireText = z
  .union([z.string(), z.number()])
  .nullish()
  .transform((text) => String(text ?? ''));
/** An optional time, as its text: '' if unknown. A text that is not a time is odd. */
export const wireTime = z
  .string()
  .nullish()
  .transform((text) => text ?? '')
  .refine(isTimeOrUnknown, 'not a time');
/** An optional yes or no; null if unknown. */
export const wireFlag = z
  .union([z.boolean(), z.enum(['true', 'false']).transform((word) => word === 'true')])
  .nullish()
  .transform((value) => value ?? null);

/** A field that is null if it is absent, null or ''. */
export const wireOptional = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' ? null : value), schema.nullish()).transform((value) => value ?? null);

/** The readable levels of one side of a book, and how many others there are. */
export interface ReadLevels<T> {
  levels: T[];
  leftOut: number;
}

/**
 * Levels of a book, each read by itself; null is an empty side. A list of which most levels are unreadable is odd: it is in other units or
 * another form.
 */
export const wireLevels = <T extends z.ZodType>(level: T) =>
  z
    .array(z.unknown())
    .nullable()
    .transform((given, context): ReadLevels<z.output<T>> => {
      const rows = given ?? [];
      const levels = rows.flatMap((row) => {
        const { success, data } = level.safeParse(row);
        return success ? [data] : [];
      });
      const leftOut = rows.length - levels.length;
      if (leftOut <= levels.length) return { levels, leftOut };
      context.addIssue({ code: 'custom', message: `${leftOut} of ${rows.length} levels are not as expected` });
      return z.NEVER;
    });

/** One side of a book of which every level must be readable; null is an empty side. */
export const wireAllLevels = <T extends z.ZodType>(level: T) =>
  z
    .array(level)
    .nullable()
    .transform((levels) => levels ?? []);

/** A row parsed for the mapper, and as received. */
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

/**
 * What rows are: `idKey` is the key of their id. A row is left out if a field of `essential` fails, which are keys or paths like
 * `order.price`; without `essential`, if any field fails.
 */
interface RowAbout {
  platform: Platform;
  kind: BadRow['kind'];
  idKey: string;
  essential?: readonly string[];
}

/**
 * Parses one row. Fields that fail and are not essential are left out, and each is reported to the context; a row that fails as a whole
 * is reported and null.
 */
export function parseRow<T>(
  schema: z.ZodType<T>,
  raw: unknown,
  about: RowAbout,
  context: ReadContext,
): ParsedRow<T> | null {
  const result = schema.safeParse(raw);
  if (result.success && isObject(raw)) return { row: result.data, raw };
  const { platform, kind, idKey, essential } = about;
  const id = isObject(raw) ? raw[idKey] : undefined;
  const named = {
    platform,
    kind,
    id: typeof id === 'string' || typeof id === 'number' ? String(id).slice(0, 200) : '',
  };
  const kept = result.error && essential && isObject(raw) && parseWithoutOdd(schema, raw, result.error, essential);
  if (kept && isObject(raw)) {
    for (const { field, reason } of kept.odd) context.onBadRow({ ...named, field, reason });
    return { row: kept.row, raw };
  }
  context.onBadRow({ ...named, reason: result.success ? 'row: not an object' : firstIssue(result.error) });
  return null;
}

/** The valid rows of a page, in order. */
export function parseRows<T>(
  schema: z.ZodType<T>,
  rows: readonly unknown[],
  about: RowAbout,
  context: ReadContext,
): ParsedRow<T>[] {
  const good: ParsedRow<T>[] = [];
  for (const raw of rows) {
    const parsed = parseRow(schema, raw, about, context);
    if (parsed) good.push(parsed);
  }
  return good;
}

/** What a page of a newest-first list adds to the rows since a time, and whether the next page has to be read. */
interface RecentRows<T> {
  recent: T[];
  goesOn: boolean;
}

/** Pages in a row without any known time that are passed over: a list may begin with such rows, but must not be read to its end. */
const MOST_UNTIMED = 2;

/**
 * Splits the pages of a newest-first list. A row whose time is unknown (null) may be as recent as `sinceMs`; the list goes on after a row
 * that is known to be recent, after a few pages without any known time, and after an empty page. `listed`: how many rows the page has,
 * unreadable ones included.
 */
export function recentRows<T>(
  timeOf: (row: T) => string | null,
  sinceMs: number,
): (rows: readonly T[], listed: number) => RecentRows<T> {
  let untimed = 0;
  return (rows, listed) => {
    if (listed === 0) return { recent: [], goesOn: true };
    const timed = rows.map((row) => ({ row, ms: Date.parse(timeOf(row) ?? '') }));
    untimed = timed.some(({ ms }) => !Number.isNaN(ms)) ? 0 : untimed + 1;
    return {
      recent: timed.flatMap(({ row, ms }) => (ms < sinceMs ? [] : [row])),
      goesOn: timed.some(({ ms }) => ms >= sinceMs) || (untimed > 0 && untimed <= MOST_UNTIMED),
    };
  };
}

/**
 * The body of a reply; throws PlatformError `bad_answer`, with `endpoint` if given and with what the body says of an error, if its shape as
 * a whole is not as expected.
 */
export function parseBody<T>(platform: Platform, schema: z.ZodType<T>, reply: PlatformReply, endpoint?: string): T {
  const result = schema.safeParse(reply.json);
  if (result.success) return result.data;
  const said = errorWords(reply.json);
  const issue = `${firstIssue(result.error)}${said && `; the answer says: ${said}`}`;
  const detail = endpoint === undefined ? issue : `${endpoint}: ${issue}`;
  throw new PlatformError(platform, 'bad_answer', { status: reply.status, detail });
}

/** When the platform answered, by its own clock, Unix µs. */
export function answeredUs({ headers }: Pick<PlatformReply, 'headers'>): number | undefined {
  const ms = Date.parse(headers['date'] ?? '');
  return Number.isNaN(ms) ? undefined : ms * 1000;
}

/**
 * Whether a read failed because of the requested item, so that others may be readable. Servers answer 500 for a single bad row; if
 * all rows fail, the breaker stops the reads.
 */
export const isItemError = (error: unknown): error is PlatformError =>
  error instanceof PlatformError &&
  (error.status === 500 || ['refused', 'not_found', 'bad_answer'].includes(error.kind));

/**
 * Whether a read failed in a way that may be its item's or the platform's: an answer of a gateway, or none. It is the item's if the
 * platform answers reads of other items.
 */
export const isDoubtfulError = (error: unknown): error is PlatformError =>
  error instanceof PlatformError &&
  !(error instanceof NotSentError) &&
  ['unavailable', 'maintenance', 'timeout'].includes(error.kind);

/** Whether a read failed because the platform does not have the item. */
export const isNotFound = (error: unknown): error is PlatformError =>
  error instanceof PlatformError && error.kind === 'not_found';

/** The platform itself answers, in JSON, that the item does not exist; a 404 without JSON comes from a gateway and proves nothing. */
export const isStatedNotFound = (error: unknown): error is PlatformError =>
  isNotFound(error) && error.body !== undefined && error.body !== null;

/** null if the platform states that it does not have the item; a gateway's 404 means that the platform was not reached. */
export function nullIfStatedAbsent(error: unknown): null {
  if (isStatedNotFound(error)) return null;
  throw isNotFound(error) ? notReached(error) : error;
}

/** A 404 of an existing route does not come from the platform. */
export const notReached = ({ platform, status, detail }: PlatformError): PlatformError =>
  new PlatformError(platform, 'unavailable', { status, detail });
