import { z } from 'zod';
import { textParam, toNumber } from '../core/fields.ts';
import { PLATFORMS, type Platform } from '../core/model.ts';
import { ADDRESS } from '../core/text.ts';
import { asPlatformList, timestampParam, toPlatform } from './parameters.ts';

/** Schemas of stream parameters. */

const PREFIXED = /^([a-z_]+):(.{1,512})$/s;
const MAX_MARKETS = 500;

const parts = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean),
  ),
];

/** A comma-separated list of at least one of `values`. */
export function wordsParam<const V extends readonly string[]>(
  values: V,
  to: (word: string) => unknown = (word) => word,
) {
  const error = `a list of ${values.join(', ')}`;
  return z
    .union([z.string(), z.array(z.string())], { error })
    .transform((given, context): V[number][] => {
      const words = [given].flat().flatMap(parts).map(to);
      if (words.length > 0 && words.every((word) => values.includes(word as string)))
        return [...new Set(words as V[number][])];
      context.issues.push({ code: 'custom', message: error, input: given });
      return z.NEVER;
    })
    .describe(error);
}

export const platformsParam = () => asPlatformList(wordsParam(PLATFORMS, toPlatform));

/** A market by its unified id. */
export interface NamedMarket {
  platform: Platform;
  id: string;
}

/** A comma-separated list of unified market ids, at most 500. */
export function unifiedIdsParam() {
  const error = `1 to ${MAX_MARKETS} ids of the form <platform>:<platform id>, comma-separated`;
  return z
    .union([z.string(), z.array(z.string())], { error })
    .transform((given, context): NamedMarket[] => {
      const ids = [...new Set([given].flat().flatMap(parts))];
      const named = ids.flatMap((text) => {
        const [, prefix, id = ''] = PREFIXED.exec(text) ?? [];
        const platform = toPlatform(prefix) as Platform;
        return PLATFORMS.includes(platform) ? [{ platform, id }] : [];
      });
      if (ids.length > 0 && ids.length <= MAX_MARKETS && named.length === ids.length) return named;
      context.issues.push({ code: 'custom', message: error, input: given });
      return z.NEVER;
    })
    .describe(error);
}

const MAX_MATCHES = 10;

/** A comma-separated list of ids of matches, at most 10. */
export function matchIdsParam() {
  const error = `1 to ${MAX_MATCHES} ids of matches, comma-separated`;
  return z
    .union([z.string(), z.array(z.string())], { error })
    .transform((given, context): string[] => {
      const ids = [...new Set([given].flat().flatMap(parts))];
      if (ids.length > 0 && ids.length <= MAX_MATCHES) return ids;
      context.issues.push({ code: 'custom', message: error, input: given });
      return z.NEVER;
    })
    .describe(`Channel match_gaps: these pairs alone; ${error}`);
}

const MAX_ADDRESSES = 100;

/** A comma-separated list of wallets, at most 100, in lower case. */
export function addressesParam(about = 'Trades of these takers alone') {
  const error = `1 to ${MAX_ADDRESSES} addresses of 0x and 40 hex digits, comma-separated`;
  return z
    .union([z.string(), z.array(z.string())], { error })
    .transform((given, context): ReadonlySet<string> => {
      const addresses = [given].flat().flatMap(parts);
      const found = new Set(addresses.map((one) => one.toLowerCase()));
      if (found.size > 0 && found.size <= MAX_ADDRESSES && addresses.every((one) => ADDRESS.test(one))) return found;
      context.issues.push({ code: 'custom', message: error, input: given });
      return z.NEVER;
    })
    .describe(`${about}: ${error}`);
}

/** The same for endpoints: cursors and cached answers go by the text of the parameters. */
export const walletsParam = (about: string) =>
  addressesParam(about).transform((addresses) => [...addresses].toSorted());

/** A lower bound as a number, compared with stored values. */
export function floorParam(unit: string) {
  const error = 'a number from 0 to 1000000000000';
  return z
    .preprocess(toNumber, z.number({ error }).min(0, { error }).max(1e12, { error }))
    .optional()
    .describe(`Trades of at least this, ${unit}`);
}

/** Where to start: a cursor, or a time in Unix ms. */
type SinceValue = { cursor: string } | { timeMs: number };

/** A cursor of a stream or a time. */
export function sinceParam() {
  const time = timestampParam();
  return z
    .preprocess((given) => (typeof given === 'number' ? String(given) : given), textParam(1024))
    .transform((text): SinceValue => {
      const read = time.safeParse(text);
      return read.success ? { timeMs: read.data } : { cursor: text };
    })
    .describe('The id of an event of this stream, or a time: events from there on come first');
}
