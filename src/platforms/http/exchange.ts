import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { PlatformError, type PlatformErrorKind } from '../../core/errors.ts';
import { NotConnectedError, NotSentError, type Answer } from './errors.ts';
import type { PlatformRequest } from './request.ts';

const DEFAULT_HEADERS = { accept: 'application/json', 'accept-encoding': 'gzip, br', 'user-agent': 'forecastle' };

/**
 * One request, one answer: no retries and no redirects. Throws PlatformError if the connection fails (unavailable, timeout), or if the
 * body is cut off, cannot be decompressed or exceeds `maxBytes` decompressed; rethrows the reason of an abort. `onSent`, if given,
 * is called when the request is written to its connection.
 */
export async function exchange(
  agent: Dispatcher,
  request: PlatformRequest,
  { maxBytes, signal, onSent }: { maxBytes: number; signal: AbortSignal; onSent: (() => void) | undefined },
): Promise<Answer> {
  const { platform } = request;
  const url = new URL(request.url);
  const own = typeof request.headers === 'function' ? await request.headers() : request.headers;
  try {
    // Composing makes undici translate all headers of the answer, twice.
    const { statusCode, headers, body } = await (onSent ? agent.compose(announcing(onSent)) : agent).request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: request.method,
      headers: { ...DEFAULT_HEADERS, ...own },
      body: request.body ?? null,
      signal,
    });
    const text = await readText(unpacked(body, headers['content-encoding'], platform), maxBytes, platform);
    return { status: statusCode, headers: flat(headers), text };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof PlatformError) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? (error as Error).name;
    // A header value that HTTP does not allow, e.g. a credential with a line break in it.
    if (code === 'UND_ERR_INVALID_ARG') throw new NotSentError(platform, 'refused', { detail: 'not a valid request' });
    const Failure = isOfConnecting(error) ? NotConnectedError : PlatformError;
    throw new Failure(platform, kindOf(code), { detail: code, cause: error });
  }
}

/** Calls `onSent` when a request has its connection and is written to it. */
const announcing =
  (onSent: () => void): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (options, handler) =>
    dispatch(options, {
      onRequestStart(controller, context: unknown) {
        onSent();
        handler.onRequestStart?.(controller, context);
      },
      onResponseStart: (...given) => handler.onResponseStart?.(...given),
      onResponseData: (...given) => handler.onResponseData?.(...given),
      onResponseEnd: (...given) => handler.onResponseEnd?.(...given),
      onResponseError: (...given) => handler.onResponseError?.(...given),
    });

/** Whether no connection was made: refused, timed out, or no address found. One that broke later may have carried the request. */
function isOfConnecting(error: unknown): boolean {
  // One error for each address tried.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isOfConnecting);
  const { code, syscall } = error as NodeJS.ErrnoException;
  return code === 'UND_ERR_CONNECT_TIMEOUT' || syscall === 'connect' || syscall === 'getaddrinfo';
}

function kindOf(code: string): PlatformErrorKind {
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return 'timeout';
  // Codes of zlib for a damaged body; everything else is the connection.
  return /^(Z_|ERR_BROTLI|ERR__ERROR_FORMAT)/.test(code) ? 'bad_answer' : 'unavailable';
}

function unpacked(
  body: Readable,
  encoding: string | string[] | undefined,
  platform: PlatformRequest['platform'],
): Readable {
  const through = (decoder: ReturnType<typeof createGunzip>): Readable => pipeline(body, decoder, () => {});
  switch (encoding) {
    case undefined:
    case '':
    case 'identity':
      return body;
    case 'gzip':
      return through(createGunzip());
    case 'br':
      return through(createBrotliDecompress());
    default:
      // Discarded; the error of its abort is expected.
      body.on('error', () => {}).destroy();
      throw new PlatformError(platform, 'bad_answer', { detail: `content-encoding ${String(encoding)}` });
  }
}

async function readText(body: Readable, maxBytes: number, platform: PlatformRequest['platform']): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Leaving the loop destroys the stream and its connection.
    if (bytes > maxBytes) throw new PlatformError(platform, 'bad_answer', { detail: `more than ${maxBytes} bytes` });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function flat(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const pairs = Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]);
  return Object.fromEntries(pairs) as Record<string, string>;
}
