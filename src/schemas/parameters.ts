import { textParam, toNumber } from '../core/fields.ts';
import { z } from 'zod';
import { parseDecimal } from '../core/decimal.ts';
import { parseIso8601 } from '../core/iso-8601.ts';
import { CANDLE_INTERVALS_MIN, INTERVAL_SECONDS, PLATFORMS, type Platform } from '../core/model.ts';
import { listText } from '../core/text.ts';

/** Neutral aliases, accepted wherever a platform is. */
const NEUTRAL: Record<string, Platform> = Object.fromEntries(
  PLATFORMS.map((platform, n) => [`platform_${String.fromCodePoint(97 + n)}`, platform]),
);

/** The platform of a caller's word; any other value is returned unchanged. */
export const toPlatform = (word: unknown): unknown => (typeof word === 'string' ? (NEUTRAL[word] ?? word) : word);

const unwrapped = (schema: z.ZodType): object =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodDefault ? schema.unwrap() : schema;

/** Schemas of parameters that are market ids or lists of them: inputReader removes or checks the platform prefix. */
const marketIds = new WeakSet<object>();
export const isMarketId = (schema: z.ZodType): boolean => marketIds.has(unwrapped(schema));

/** Schemas of lists of platforms: the prefix of an id limits such a list to its platform. */
const platformLists = new WeakSet<object>();
export const isPlatformList = (schema: z.ZodType): boolean => platformLists.has(unwrapped(schema));
export function asPlatformList<S extends z.ZodType>(schema: S): S {
  platformLists.add(schema);
  return schema;
}

/** One of the platforms that an endpoint serves, or its neutral alias; `others` says where the rest are served. */
export function platformParam<const P extends readonly Platform[] = typeof PLATFORMS>(
  served: P = PLATFORMS as unknown as P,
  others = '',
): z.ZodType<P[number], unknown> {
  const names = served.join(', ');
  const error = `one of ${names}${others && `; others in ${others}`}`;
  return z.preprocess(toPlatform, z.enum(served, { error })).describe(names);
}

/** One platform, or all of them. */
export const optionalPlatformParam = () =>
  platformParam()
    .optional()
    .describe(`${listText(PLATFORMS, 'or')}. Default: all`);

/** Page size: an integer from 1 to `max`, never clamped. */
export const limitParam = (initial: number, max: number) =>
  integerParam(1, max).default(initial).describe(`Number of results per page, 1 to ${max}`);

/** An integer in [min, max], as number or text. */
export function integerParam(min: number, max: number) {
  const error = `an integer from ${min} to ${max}`;
  return z.preprocess(toNumber, z.int({ error }).min(min, { error }).max(max, { error }));
}

export const enumParam = <const V extends readonly [string, ...string[]]>(values: V) =>
  z.enum(values, { error: `one of ${values.join(', ')}` });

export type IntervalWord = keyof typeof INTERVAL_SECONDS;
const INTERVAL_WORDS = Object.keys(INTERVAL_SECONDS) as IntervalWord[];
const minutesOf = (word: IntervalWord): number => INTERVAL_SECONDS[word] / 60;

/** Length of a bar as its word (`1h`), also taken in minutes (`60`). */
export function intervalParam(initial: IntervalWord) {
  const words = new Map(INTERVAL_WORDS.map((word) => [minutesOf(word), word]));
  const error = `one of ${INTERVAL_WORDS.join(', ')} (or ${[...words.keys()].join(', ')} minutes)`;
  const toWord = (value: unknown): unknown => words.get(toNumber(value) as number) ?? value;
  return z
    .preprocess(toWord, z.enum(INTERVAL_WORDS, { error }))
    .default(initial)
    .describe('Length of a bar, also in minutes: 60 is 1h');
}

/** Length of a bar in minutes, also taken as its word (`1h`). */
export function minutesParam(initial: (typeof CANDLE_INTERVALS_MIN)[number]) {
  const minutes = new Map<unknown, number>(INTERVAL_WORDS.map((word) => [word, minutesOf(word)]));
  const words = INTERVAL_WORDS.filter((word) => CANDLE_INTERVALS_MIN.some((one) => one === minutesOf(word)));
  const error = `one of ${CANDLE_INTERVALS_MIN.join(', ')} (or ${words.join(', ')})`;
  const toMinutes = (value: unknown): unknown => minutes.get(value) ?? toNumber(value);
  return z
    .preprocess(toMinutes, z.literal(CANDLE_INTERVALS_MIN, { error }))
    .default(initial)
    .describe('Minutes of a bar, also as a word: 1h is 60');
}

const toFlag = (value: unknown): unknown => (value === 'true' ? true : value === 'false' ? false : value);

/** `true` or `false`. */
export function flagParam(initial: boolean) {
  return z.preprocess(toFlag, z.boolean({ error: 'true or false' })).default(initial);
}

/** Placeholders stand for outcomes that an event does not list by name. */
export const placeholdersParam = () =>
  flagParam(false).describe(
    'true adds placeholders: markets that stand for the outcomes which an event does not list by name, and which the platform hides (metadata.neg_risk_other)',
  );

/** Combinations are bets on several markets at once. */
export const combosParam = () =>
  flagParam(false).describe(
    'true adds combinations: bets on several markets at once (metadata.is_combo), with their legs in metadata.legs. Stored are those that traded, and those that were asked for by id',
  );

/** Places of the longest decimal that matches DECIMAL: it is read whole before it is held against its scale. */
const DIGITS = 140;
/** A decimal of at most 40 digits, maybe with an exponent; it has a digit before the exponent. */
const DECIMAL = /^[+-]?(?=[\d.]{1,40}(?:e|$))(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,2})?$/i;

/**
 * A decimal in [min, max] with at most `scale` places, as JSON number or text, read exactly. A JSON number is read by its
 * shortest text, which is the text sent up to 15 significant digits; more digits are to be sent as text.
 */
export function exactDecimal(scale: number, min: bigint, max: bigint, rule: string) {
  return z.union([z.number(), z.string()], { error: rule }).transform((value, context) => {
    const text = String(value).trim();
    if (DECIMAL.test(text)) {
      const read = parseDecimal(text, DIGITS);
      const unit = 10n ** BigInt(DIGITS - scale);
      if (read % unit === 0n && read / unit >= min && read / unit <= max) return read / unit;
    }
    context.issues.push({ code: 'custom', message: rule, input: value });
    return z.NEVER;
  });
}

/** A larger amount does not fit into the store's decimals. */
const LARGEST_AMOUNT = 999_999_999_999;

/** Text of a decimal without an exponent. */
const PLAIN = /^[+-]?\d{1,30}(\.\d{1,30})?$/;

/** A non-negative decimal (number, or text without an exponent) with at most `scale` places, read exactly into a bigint ×10^scale. */
export function decimalParam(scale: number) {
  const error = `a number from 0 to ${LARGEST_AMOUNT} with at most ${scale} decimals`;
  const most = BigInt(LARGEST_AMOUNT) * 10n ** BigInt(scale);
  return z
    .union([z.number(), z.string().regex(PLAIN, { error })], { error })
    .pipe(exactDecimal(scale, 0n, most, error));
}

const TIME_RULE = 'a time in Unix seconds, Unix milliseconds or ISO-8601';
/** A + in a URL that is not encoded arrives as a blank. The blank between date and time comes before it. */
const withSign = (text: string): string => text.replace(/^(\S+[T ]\S+) (?=\d{2}:?\d{2}$)/i, '$1+');
/** Longer texts are no times, and patterns take long for them. */
const LONGEST_TIME = 64;
/** A day without hyphens. As Unix seconds it would lie before 1974, when no platform existed. */
const DAY = /^\d{8}$/;
const LAST_MS = 253_402_300_799_999;

/** A time as Unix milliseconds. Input: Unix seconds, milliseconds (from 1e11 on) or ISO-8601, UTC without a zone. */
export const timestampParam = () =>
  z
    .union([z.string(), z.number()], { error: TIME_RULE })
    .transform((given, context) => {
      const time = timeMs(String(given).trim());
      if (time !== null) return time;
      context.issues.push({ code: 'custom', message: TIME_RULE, input: given });
      return z.NEVER;
    })
    .describe('Unix seconds, Unix milliseconds or ISO-8601 (UTC unless it names a zone)');

function timeMs(given: string): number | null {
  if (given.length > LONGEST_TIME) return null;
  const isoUs = parseIso8601(withSign(given));
  if (/^\d{1,15}(\.\d{1,9})?$/.test(given) && !(DAY.test(given) && isoUs !== null)) {
    const [whole = '', part = ''] = given.split('.');
    // Truncated, as ISO texts are: rounding up would include events after the instant.
    const ms = Number(whole) >= 1e11 ? Number(whole) : Number(whole) * 1000 + Number(part.slice(0, 3).padEnd(3, '0'));
    return ms <= LAST_MS ? ms : null;
  }
  if (isoUs === null) return null;
  const ms = Math.floor(isoUs / 1000);
  return ms >= 0 && ms <= LAST_MS ? ms : null;
}

const MARKET_ID =
  'Platform id or <platform>:<platform id>; on Polymarket and Limitless the condition id, the slug or the token of an outcome too';

/** A market id of the platform, with or without its `<platform>:` prefix; passed on without it. */
export function marketIdParam() {
  const schema = textParam(512).describe(MARKET_ID);
  marketIds.add(schema);
  return schema;
}

/** The id of an event or a series, with or without its `<platform>:` prefix; passed on without it. */
export function eventIdParam(what = "The platform's id of an event, with or without <platform>:") {
  const schema = textParam(512).describe(what);
  marketIds.add(schema);
  return schema;
}

/** Comma-separated market ids, 1 to `max`, without duplicates; passed on without prefixes. */
export function marketIdsParam(max: number) {
  const error = `1 to ${max} market ids, comma-separated`;
  const schema = z
    .string({ error })
    .transform((text, context) => {
      const ids = [...new Set(text.split(',').map((id) => id.trim()))];
      if (ids.length <= max && ids.every((id) => id !== '' && id.length <= 512)) return ids;
      context.issues.push({ code: 'custom', message: error, input: text });
      return z.NEVER;
    })
    .describe(error);
  marketIds.add(schema);
  return schema;
}

/** An id of a list: without its prefix, and as received. */
export interface ListedId {
  id: string;
  given: string;
}

/** The same, for answers that show ids as received. */
export function listedIdsParam(max: number) {
  const schema = marketIdsParam(max).transform((ids) => ids.map((id): ListedId => ({ id, given: id })));
  marketIds.add(schema);
  return schema;
}

/** Bytes of a cursor before the JSON of its position. */
export const CURSOR_TAG_BYTES = 12;

/** Decoding is lenient: text with other characters, or with spare bits set, is not a cursor of ours. */
function hasCursorForm(text: string): boolean {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text && (text === '' || isJson(bytes.subarray(CURSOR_TAG_BYTES).toString()));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Cursors are at most this long: those of trades and gaps name what the next page leaves out. */
export const LONGEST_CURSOR = 8192;

/** The `next_cursor` of a previous answer; an empty text means the first page. */
export function cursorParam() {
  const error = 'the next_cursor of a previous answer';
  return z
    .string({ error })
    .max(LONGEST_CURSOR, { error })
    .refine(hasCursorForm, { error })
    .transform((text) => (text === '' ? undefined : text))
    .optional()
    .describe('next_cursor of the previous page, with the same filters; empty for the first page');
}

/** Number of leading markets of each event that a list names. */
export const leadersParam = () =>
  integerParam(0, 5).default(0).describe('Number of leading markets of each event in `leading_markets`. Default: none');
