import { ApiError, PlatformError, platformName, toApiError } from '../errors.ts';
import type { Platform } from '../schemas.ts';
import { NotSentError } from './http-errors.ts';
import type { Placement } from './orders.ts';

/** 422: the platform would refuse the order, or has. `errorText` holds its own words or the values at fault. */
export const orderRefused = (message: string, resolution: string, errorText = ''): ApiError =>
  new ApiError(422, message, { resolution, errorText });

const rejected = (error: PlatformError, refusal: ApiError): Placement => ({
  fate: 'rejected',
  httpStatus: error.status,
  detail: error.detail,
  refusal,
});

/** 503: the platform takes no orders now. The wait is the one that a read is told. */
const unavailable = (error: PlatformError, message: string): ApiError =>
  new ApiError(503, message, {
    resolution: 'The order was not placed. Try again later, under a new idempotency key.',
    errorText: error.detail,
    retryAfter: toApiError(error).retryAfter ?? 5,
  });

/** 502: the platform has given up the interface that was used. */
const outdated = (error: PlatformError, name: string): ApiError =>
  new ApiError(502, `${name} takes orders in another way now`, {
    resolution: 'The order was not placed. Report it: this service is out of date.',
    errorText: error.detail,
  });

/**
 * What a failed placement came to. Only what never left, a refusal in the platform's own JSON, its rate limit and its announced
 * maintenance prove that the order was not taken; every other failure leaves it unknown. `resolution` is what helps against a refusal.
 * An adapter answers for the platform's "duplicate" itself: unknown.
 */
export function failedPlacement(platform: Platform, error: unknown, resolution: (words: string) => string): Placement {
  if (!(error instanceof PlatformError)) throw error;
  const name = platformName(platform);
  const { kind, status, detail } = error;
  if (error instanceof NotSentError) return rejected(error, unavailable(error, `${name} cannot be asked now`));
  // Polymarket answers 425 while its engine restarts: what it had taken before is not told.
  const restarting = platform === 'polymarket' && status === 425;
  const spoken = error.body !== undefined && error.body !== null && !restarting;
  if (spoken && kind === 'rate_limited') return rejected(error, unavailable(error, `${name} is rate limiting`));
  if (spoken && kind === 'maintenance') return rejected(error, unavailable(error, `${name} takes no orders now`));
  if (spoken && status === 410) return rejected(error, outdated(error, name));
  if (spoken && status >= 400 && status < 500 && kind !== 'unavailable') {
    const message =
      kind === 'unauthorized'
        ? `${name} rejected the credential`
        : `${name} refused the order: ${detail.slice(0, 200)}`;
    return rejected(error, orderRefused(message, resolution(detail), detail));
  }
  return { fate: 'unknown', httpStatus: status, detail: `${kind}: ${detail}` };
}
