import { PLATFORM_NAMES, type Platform } from './model.ts';

/** What a caller sees of a failure; `cause` stays in the log. */
export class ApiError extends Error {
  readonly status: number;
  readonly resolution: string;
  readonly errorText: string;
  /** Seconds, on 429 and 503 only. */
  readonly retryAfter: number | undefined;

  constructor(
    status: number,
    message: string,
    options: { resolution: string; errorText?: string; retryAfter?: number; cause?: unknown },
  ) {
    super(message, { cause: options.cause });
    this.name = 'ApiError';
    this.status = status;
    this.resolution = options.resolution;
    this.errorText = options.errorText ?? '';
    this.retryAfter = options.retryAfter;
  }
}

/** The error body of every route. */
interface ErrorEnvelope {
  error: { status: number; message: string; resolution: string; error_text: string };
}

export const envelope = (error: ApiError): ErrorEnvelope => ({
  error: {
    status: error.status,
    message: error.message,
    resolution: error.resolution,
    error_text: error.errorText,
  },
});

/** One failing field of a request, as listed in `error_text`. */
export interface FieldIssue {
  field: string;
  expected: string;
  received: string;
}

/** The same without `received` where the field is shown as it was given. */
export type FoundIssue = Omit<FieldIssue, 'received'> & Partial<Pick<FieldIssue, 'received'>>;

/** 400 that lists every failing field: what was expected and what was received. */
export function badRequest(issues: FieldIssue[], resolution = 'Correct the fields named in error_text.'): ApiError {
  const errorText = issues.map((i) => `${i.field}: ${i.expected}, received ${i.received}`).join('; ');
  const names = [...new Set(issues.map((i) => i.field))].join(', ');
  return new ApiError(400, `Invalid request: ${names}`, { resolution, errorText });
}

export type PlatformErrorKind =
  | 'not_found'
  | 'rate_limited'
  /** Our own limit, not the platform's: the caller has used up their share of the platform's budget. */
  | 'over_share'
  | 'unavailable'
  | 'maintenance'
  | 'geo_blocked'
  | 'timeout'
  | 'bad_answer'
  | 'refused'
  | 'unauthorized';

/** A platform's failure, classified; `detail` holds the platform's text, at most 500 characters. */
export class PlatformError extends Error {
  readonly platform: Platform;
  readonly kind: PlatformErrorKind;
  /** HTTP status of the platform, 0 when there was no answer. */
  readonly status: number;
  readonly detail: string;
  readonly retryAfterMs: number | undefined;
  /** Parsed JSON body when there was one: placement needs the platform's own code. */
  readonly body: unknown;
  /** This server's clock minus the platform's, as replies show it. */
  readonly skewMs: number;

  constructor(
    platform: Platform,
    kind: PlatformErrorKind,
    options: {
      status?: number;
      detail?: string;
      retryAfterMs?: number;
      body?: unknown;
      skewMs?: number;
      cause?: unknown;
    } = {},
  ) {
    super(`${platform} ${kind}${options.status ? ` (HTTP ${options.status})` : ''}`, { cause: options.cause });
    this.name = 'PlatformError';
    this.platform = platform;
    this.kind = kind;
    this.status = options.status ?? 0;
    this.detail = (options.detail ?? '').slice(0, 500).toWellFormed();
    this.retryAfterMs = options.retryAfterMs;
    this.body = options.body;
    this.skewMs = options.skewMs ?? 0;
  }
}

/** Platforms refuse signatures that are too old or too new; below this the clocks agree well enough for all of them. */
const NOTABLE_MS = 2000;

/** Says by how much this server's clock differs from a platform's; null while they agree. `skewMs`: ours minus the platform's. */
export function skewText(platform: Platform, skewMs: number): string | null {
  if (Math.abs(skewMs) <= NOTABLE_MS) return null;
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  return `this server's clock is ${seconds} s ${skewMs < 0 ? 'behind' : 'ahead of'} ${platformName(platform)}'s: set it`;
}

export const platformName = (platform: Platform): string => PLATFORM_NAMES[platform];

/**
 * The part of a failure that may be logged and stored: our text and the platform's. Of other errors only name and code, because
 * messages of databases and mail servers contain statements, values and addresses.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof PlatformError) return error.detail === '' ? error.message : `${error.message}: ${error.detail}`;
  if (error instanceof ApiError) return error.errorText || error.message;
  if (!(error instanceof Error)) return 'not an error';
  const { name, cause } = error;
  const { code } = error as NodeJS.ErrnoException;
  const own = code === undefined ? name : `${name} ${code}`;
  return cause instanceof Error ? `${own}: ${reasonOf(cause)}` : own;
}

/** Advice on a rejected signature while this server's clock differs from the platform's; null while it does not. */
export function clockAdvice({ platform, skewMs }: PlatformError): string | null {
  const text = skewText(platform, skewMs);
  return text === null ? null : `The signed time may be the reason: ${text}.`;
}

/** A platform's failure on a read, as the caller sees it. A platform's 429 becomes our 503: our 429 is the caller's own limit. */
export function toApiError(error: PlatformError): ApiError {
  const name = platformName(error.platform);
  const answer = (status: number, message: string, resolution: string, retryAfterMs?: number) =>
    new ApiError(status, message, {
      resolution,
      errorText: error.detail,
      cause: error,
      ...(retryAfterMs === undefined ? {} : { retryAfter: Math.max(1, Math.ceil(retryAfterMs / 1000)) }),
    });
  switch (error.kind) {
    case 'not_found':
      return answer(404, `Not found on ${name}`, 'Check the id.');
    case 'rate_limited':
      return answer(
        503,
        `${name} is rate limiting`,
        'Retry after the seconds in Retry-After.',
        error.retryAfterMs ?? 5000,
      );
    case 'over_share':
      return answer(
        429,
        `You have used your share of calls to ${name}`,
        'Wait for the seconds in Retry-After, and send fewer requests.',
        error.retryAfterMs ?? 1000,
      );
    case 'maintenance':
      return answer(503, `${name} is in maintenance`, 'Retry later.', error.retryAfterMs ?? 30_000);
    case 'unavailable':
      return answer(503, `${name} is unavailable`, 'Retry later.', error.retryAfterMs ?? 5000);
    case 'geo_blocked':
      return answer(503, `${name} is not reachable from this server`, 'Operator: check network or region.', 60_000);
    case 'timeout':
      return answer(504, `${name} did not respond in time`, 'Retry.');
    case 'unauthorized':
      return answer(502, `${name} rejected the credential`, clockAdvice(error) ?? 'Renew the key and check its scope.');
    case 'refused':
      return answer(502, `${name} refused our request`, 'Retry; if it persists, report it with the X-Request-Id.');
    case 'bad_answer':
      return answer(502, `Invalid response from ${name}`, 'Retry; if it persists, report it with the X-Request-Id.');
  }
}
