import { HOUR_MS } from '../../core/time.ts';
import { MANIFESTS } from '../manifests.ts';
import { PlatformError, type PlatformErrorKind } from '../../core/errors.ts';
import type { Platform } from '../../core/model.ts';

/** The request never left this process (no budget, queue full, breaker open, cancelled): nothing happened at the platform. */
export class NotSentError extends PlatformError {
  override name = 'NotSentError';
}

/** The budget does not allow the request in time; it does after `retryAfterMs`. */
export class NoBudgetError extends NotSentError {
  override name = 'NoBudgetError';
}

/** No connection to the platform was made: nothing was sent, as above, and a read is retried. */
export class NotConnectedError extends NotSentError {
  override name = 'NotConnectedError';
}

/** A raw answer of the platform. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/**
 * The error for an answer that is not 2xx. `body` is its parsed JSON, undefined if it is not JSON (a gateway's HTML, or empty).
 * `nowMs`: when it arrived, by our clock. `skewMs`: our clock minus the platform's.
 */
export function answerError(
  platform: Platform,
  answer: Answer,
  body: unknown,
  { nowMs, skewMs = 0 }: { nowMs: number; skewMs?: number },
): PlatformError {
  const detail = answerWords(answer.text, body);
  const manifest = MANIFESTS[platform];
  const reply = { status: answer.status, body, code: codeOf(body), words: detail };
  const kind = manifest.classifyError(reply) ?? commonKind(answer, body !== undefined);
  const defaultWaitMs = kind === 'rate_limited' ? manifest.rateLimitStepsMs?.[0] : undefined;
  const retryAfterMs = statedWaitMs(answer.headers, body, nowMs) ?? defaultWaitMs;
  return new PlatformError(platform, kind, {
    status: answer.status,
    detail,
    body,
    skewMs,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** Meaning of a status on most platforms; `spoken` = the body is JSON. */
function commonKind({ status, text }: Answer, spoken: boolean): PlatformErrorKind {
  switch (status) {
    case 429:
      return 'rate_limited';
    case 401:
      return 'unauthorized';
    case 403:
      // Without JSON the answer is the gateway's: Cloudflare error 1015 is a rate limit, any other page a block.
      if (!spoken) return /\b1015\b.*rate limit|error code: 1015/is.test(text) ? 'rate_limited' : 'geo_blocked';
      return 'unauthorized';
    case 404:
      return 'not_found';
    case 425:
      return 'maintenance';
  }
  if (status >= 500 || status === 408) return 'unavailable';
  if (status < 400) return 'bad_answer';
  return 'refused';
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** `code` of the body or of its `error` object; '' if there is none. */
export function codeOf(body: unknown): string {
  if (!isObject(body)) return '';
  const code = body['code'] ?? (isObject(body['error']) ? body['error']['code'] : undefined);
  return typeof code === 'string' ? code : '';
}

/** The wait that the platform asks for: Retry-After in seconds or as a date, or the field in its body. */
function statedWaitMs(headers: Record<string, string>, body: unknown, nowMs: number): number | undefined {
  const header = headers['retry-after'];
  const inBody = isObject(body) ? (body['retry_after_seconds'] ?? body['retryAfterSeconds']) : undefined;
  const seconds = Number(header ?? inBody ?? Number.NaN);
  const ms = Number.isNaN(seconds) ? Date.parse(header ?? '') - nowMs : seconds * 1000;
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), HOUR_MS) : undefined;
}

/** The platform's own text, at most 500 characters: fields of its JSON, the title of its HTML, or its text. */
export function answerWords(text: string, body: unknown): string {
  const title = /<title[^>]*>([^<]*)/i.exec(text)?.[1];
  const isHtml = /^\s*</.test(text);
  const said = body === undefined ? (isHtml ? (title ?? 'an HTML page') : text.slice(0, 2000)) : words(body, 0);
  return said
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, 500)
    .toWellFormed();
}

/** The platform's own text in a body that has one of the fields of its errors; '' in any other. */
export const errorWords = (body: unknown): string =>
  isObject(body) && ['error', 'errorMsg', 'message', 'msg'].some((name) => name in body) ? answerWords('', body) : '';

/** Fields with text, best first; the first non-empty one represents the object. */
const SPEAKING = ['message', 'error', 'errorMsg', 'msg', 'detail', 'errors', 'constraints', 'reason', 'code'];

function words(value: unknown, depth: number): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (!isObject(value) || depth > 4) return '';
  const join = (parts: unknown[]): string =>
    parts
      .slice(0, 20)
      .map((part) => words(part, depth + 1))
      .filter(Boolean)
      .join('; ');
  if (Array.isArray(value)) return join(value);
  const field = SPEAKING.find((name) => words(value[name], depth + 1) !== '');
  if (field === undefined) return join(Object.values(value));
  const details = field === 'details' ? '' : words(value['details'], depth + 1);
  return words(value[field], depth + 1) + (details && `: ${details}`);
}
