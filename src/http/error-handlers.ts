import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { clientNetwork } from '../core/client-address.ts';
import { ApiError, PlatformError, envelope, toApiError } from '../core/errors.ts';
import type { RateLimits } from '../stores/shared/rate-limits.ts';
import { storeFailure } from './store-failure.ts';

/** Handles every failure: the envelope for the caller, the cause with its request id for the log. */
export function onError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const failure = toFailure(error);
  const { status, message, cause, errorText: reason } = failure;
  if (status >= 500) request.log.error({ reqId: request.id, err: error, status }, message);
  else request.log.debug({ reqId: request.id, err: cause, status, reason }, message);
  return sendError(reply, failure);
}

/** Headers of answers to unreadable requests, which run no hooks. */
const UNREAD = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };

function sendError(reply: FastifyReply, failure: ApiError): FastifyReply {
  const retryAfter = failure.retryAfter ?? (failure.status === 503 ? 5 : undefined);
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
  reply.removeHeader('etag');
  return reply
    .headers(UNREAD)
    .code(failure.status)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(envelope(failure));
}

/** A failure as its caller sees it. */
export function toFailure(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof PlatformError) return toApiError(error);
  const store = storeFailure(error);
  if (store) return store;
  const { code = '', statusCode = 500 } = error as Partial<FastifyError>;
  if (statusCode === 413) {
    return new ApiError(413, 'Request body too large', { resolution: 'Send at most 64 KiB.', cause: error });
  }
  if (statusCode === 415) {
    return new ApiError(415, 'Unsupported media type', {
      resolution: 'Send JSON with Content-Type: application/json.',
      cause: error,
    });
  }
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') {
    return new ApiError(404, 'Not found', { resolution: 'Check the id.', cause: error });
  }
  if (statusCode === 400 && (code.startsWith('FST_') || error instanceof SyntaxError)) {
    return new ApiError(400, 'Malformed request', {
      resolution: 'Send a valid URL and, if the route has a body, a valid JSON object.',
      errorText: code === 'FST_ERR_BAD_URL' ? 'url: percent-encoding is broken' : 'body: not valid JSON',
      cause: error,
    });
  }
  if (statusCode >= 400 && statusCode < 500) {
    // Files of /docs: a path outside their folder is a 404; a range or precondition may fail.
    const status = statusCode === 403 ? 404 : statusCode;
    return new ApiError(status, STATUS_CODES[status] ?? 'Malformed request', {
      resolution: 'Check the URL and the headers of the request.',
      cause: error,
    });
  }
  return new ApiError(500, 'Internal error', {
    resolution: 'Retry; if the error persists, report the X-Request-Id of this response.',
    cause: error,
  });
}

const RAW: Record<string, [number, string, string]> = {
  HPE_HEADER_OVERFLOW: [431, 'Request headers too large', 'Send less than 32 KiB of headers.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time', 'Retry; the request took too long to arrive.'],
};

/** Node's internal reference to the response in progress on a connection. */
type Answering = Socket & { _httpMessage?: unknown };

/** Input that is not HTTP has no request and runs no hooks: the same envelope and headers are written by hand. */
export function onClientError(limits: RateLimits): (error: NodeJS.ErrnoException, socket: Answering) => void {
  return async (error, socket) => {
    if (error.code === 'ECONNRESET' || socket.destroyed) return;
    // The response to an earlier request is pending: what is written now would be taken for it, or for part of it.
    if (socket._httpMessage) return void socket.destroy();
    const [status, message, resolution] = RAW[error.code ?? ''] ?? [400, 'Malformed request', 'Send valid HTTP/1.1.'];
    const count = await limits.count('address', clientNetwork(socket.remoteAddress ?? ''));
    const body = JSON.stringify(envelope(new ApiError(status, message, { resolution })));
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${randomUUID()}`,
      `x-ratelimit-limit: ${count.limit}`,
      `x-ratelimit-remaining: ${count.remaining}`,
      ...Object.entries(UNREAD).map((pair) => pair.join(': ')),
      'connection: close',
    ];
    if (socket.writable) socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  };
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | Promise<FastifyReply>;

/** 404 for an unknown path, as a page for browsers; 405 with Allow for a known path under another method. */
export function notFound(
  app: FastifyInstance,
  pages: { wanted: (request: FastifyRequest) => boolean; send: Handler },
): Handler {
  const known = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method }) => {
    if (url.includes('*')) return;
    const pattern = new RegExp(
      `^${url.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll(/:[^/]+/g, '[^/]+')}$`,
    );
    const entry = known.get(url) ?? { pattern, methods: new Set() };
    for (const name of [method].flat()) entry.methods.add(name);
    known.set(url, entry);
  });
  return (request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const allowed = new Set<string>();
    for (const { pattern, methods } of known.values()) {
      if (pattern.test(path)) for (const method of methods) allowed.add(method);
    }
    if (allowed.size === 0) {
      if (pages.wanted(request)) return pages.send(request, reply);
      return sendError(
        reply,
        new ApiError(404, 'Route not found', { resolution: 'See /docs for the routes of this service.' }),
      );
    }
    const allow = [...allowed].toSorted().join(', ');
    reply.header('allow', allow);
    return sendError(reply, new ApiError(405, 'Method not allowed', { resolution: `Use ${allow}.` }));
  };
}
