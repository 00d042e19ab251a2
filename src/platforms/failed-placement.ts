import { MANIFESTS } from './manifests.ts';
import { ApiError, clockAdvice, PlatformError, platformName, toApiError } from '../core/errors.ts';
import type { Platform } from '../core/model.ts';
import { codeOf, NotSentError } from './http/errors.ts';
import type { Placement } from './order-contract.ts';

/** 422: the platform would reject the order, or has. `errorText` holds its own text or the values at fault. */
export const orderRefused = (message: string, resolution: string, errorText = ''): ApiError =>
  new ApiError(422, message, { resolution, errorText });

const rejected = (error: PlatformError, refusal: ApiError): Placement => ({
  result: 'rejected',
  httpStatus: error.status,
  detail: error.detail,
  refusal,
});

/** 503: the platform accepts no orders now. The wait is the same as for a read. */
const unavailable = (
  error: PlatformError,
  message: string,
  resolution = 'The order was not placed. Retry later, under a new idempotency key.',
): ApiError =>
  new ApiError(503, message, {
    resolution,
    errorText: error.detail,
    retryAfter: toApiError(error).retryAfter ?? 5,
  });

const NOT_SENT = 'The order was not sent. Retry later. The same idempotency key may be used.';

/** 429: the user has no share of the platform's budget left. */
function overShare(error: PlatformError): ApiError {
  const { status, message, errorText, retryAfter = 1 } = toApiError(error);
  return new ApiError(status, message, { resolution: NOT_SENT, errorText, retryAfter });
}

/** 502: the platform has removed the interface that was used. */
const outdated = (error: PlatformError, name: string): ApiError =>
  new ApiError(502, `${name} has changed its order interface`, {
    resolution: 'The order was not placed. Report it: this service is out of date.',
    errorText: error.detail,
  });

/** A rejection of what was signed, or of the time in it. */
const SIGNED = /signature|timestamp|expired|recv.?window|clock/i;

/**
 * The result of a failed placement. Only an unsent request, a rejection in the platform's own JSON, its rate limit and its announced
 * maintenance prove that the order was not accepted; any other failure leaves it unknown. `resolution` is the advice on a
 * rejection. Adapters treat the platform's "duplicate" as unknown themselves.
 */
export function failedPlacement(platform: Platform, error: unknown, resolution: (words: string) => string): Placement {
  if (!(error instanceof PlatformError)) throw error;
  const name = platformName(platform);
  const { kind, status, detail } = error;
  if (error instanceof NotSentError) {
    const refusal =
      kind === 'over_share' ? overShare(error) : unavailable(error, `${name} cannot be called now`, NOT_SENT);
    return { result: 'not_sent', httpStatus: status, detail, refusal };
  }
  const uncertain = MANIFESTS[platform].leavesOrderUnknown?.({ status, code: codeOf(error.body) }) ?? false;
  const spoken = error.body !== undefined && error.body !== null && !uncertain;
  if (spoken && kind === 'rate_limited') return rejected(error, unavailable(error, `${name} is rate limiting`));
  if (spoken && kind === 'maintenance') return rejected(error, unavailable(error, `${name} accepts no orders now`));
  // It concerns the location of this server, not the order.
  if (spoken && kind === 'geo_blocked')
    return rejected(error, unavailable(error, `${name} accepts no orders from this server's region`));
  if (spoken && status === 410) return rejected(error, outdated(error, name));
  if (spoken && status >= 400 && status < 500 && kind !== 'unavailable') {
    const message =
      kind === 'unauthorized'
        ? `${name} rejected the credential`
        : `${name} refused the order: ${detail.slice(0, 200)}`;
    const clock = kind === 'unauthorized' || SIGNED.test(detail) ? clockAdvice(error) : null;
    return rejected(error, orderRefused(message, clock ?? resolution(detail), detail));
  }
  return { result: 'unknown', httpStatus: status, detail: unknownReason(name, error) };
}

/** Why a failed placement does not show whether the order was taken. */
function unknownReason(name: string, { kind, status, detail, body }: PlatformError): string {
  if (status === 0) return `no answer of ${name} (${kind}: ${detail})`;
  if (body === undefined && status >= 300)
    return `a page without JSON (HTTP ${status}: ${detail}) instead of an answer`;
  return `${name} answered HTTP ${status} (${kind}: ${detail})`;
}
