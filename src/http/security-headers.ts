import type { FastifyRequest } from 'fastify';

/** Those of helmet's headers that matter for JSON (OWASP REST Security Cheat Sheet). */
const OF_ALL = {
  'cross-origin-resource-policy': 'same-site',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
};

/** Headers of answers that a browser may show as a page: the same as helmet's, which a test compares. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  ...OF_ALL,
  // Without upgrade-insecure-requests: on a laptop the service may run over plain http, where upgraded requests fail.
  'content-security-policy': [
    "default-src 'self'",
    "base-uri 'self'",
    "font-src 'self' https: data:",
    "form-action 'self'",
    "frame-ancestors 'self'",
    "img-src 'self' data:",
    "object-src 'none'",
    "script-src 'self'",
    "script-src-attr 'none'",
    "style-src 'self' https: 'unsafe-inline'",
  ].join(';'),
  'cross-origin-opener-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'x-dns-prefetch-control': 'off',
  'x-download-options': 'noopen',
  'x-permitted-cross-domain-policies': 'none',
  'x-xss-protection': '0',
};

/** Headers of data, which loads nothing and is never framed. Short, because Node validates them in every answer. */
export const DATA_HEADERS: Readonly<Record<string, string>> = {
  ...OF_ALL,
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
};

/** Headers that a web page may read. */
export const EXPOSED = [
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-request-id',
  'retry-after',
  'etag',
  'x-next-cursor',
  'accept-ranges',
  'content-range',
];
const readableBy = (origin: string | undefined, allowed: readonly string[]): Record<string, string> => ({
  vary: 'Origin',
  ...(origin !== undefined && allowed.includes(origin) ? { 'access-control-allow-origin': origin } : {}),
  'access-control-allow-credentials': 'true',
  'access-control-expose-headers': EXPOSED.join(', '),
});

/** Headers of every answer, including rejections and cached answers; `origins`: whose pages may read answers. */
export function commonHeaders(
  request: FastifyRequest,
  isData: boolean,
  origins: readonly string[],
): Readonly<Record<string, string>> {
  const own = isData ? DATA_HEADERS : PAGE_HEADERS;
  return origins.length === 0 ? own : { ...readableBy(request.headers.origin, origins), ...own };
}
