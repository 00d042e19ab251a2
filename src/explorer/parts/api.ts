import { useEffect, useRef, useState } from 'preact/hooks';
import type { Answers, Path } from './answers.ts';
import { failureText } from './forms/failure-text.ts';
import { refreshFails, serviceAnswers } from './connection.ts';

export type Params = Record<string, string | number | boolean | undefined>;

/** An error response of the API with its message, or a request without a response (status 0). */
export class ApiFailure extends Error {
  readonly status: number;
  readonly resolution: string;
  /** Milliseconds until a retry, for temporary failures: no response, rate limited, service starting. Else null. */
  readonly retryMs: number | null;
  constructor(status: number, message: string, resolution: string, retryAfterS = 0) {
    super(message);
    this.status = status;
    this.resolution = resolution;
    this.retryMs = [0, 429, 502, 503, 504].includes(status) ? Math.max(RETRY_MS, retryAfterS * 1000) : null;
  }
}
const RETRY_MS = 5000;
/** Polling interval of data that changes slowly. */
export const SLOW_MS = 30_000;
/** Event dispatched on the window when the service does not recognise the session. */
export const SIGNED_OUT = 'explorer:signed-out';

/** Requests left to the caller in the current minute, from the last response. */
interface Allowance {
  limit: number;
  remaining: number;
}
let allowance: Allowance | null = null;
export const lastAllowance = (): Allowance | null => allowance;

/** All tabs of a user share the allowance: each polls less often as it runs out, so that every tab still gets data. */
function paced(everyMs: number): number {
  const left = allowance === null ? 1 : allowance.remaining / allowance.limit;
  return everyMs * (left < 0.25 ? 4 : left < 0.5 ? 2 : 1);
}

/** The URL of a call: parameters named in braces are filled in, the others become the query string. */
export function addressOf(path: string, params: Params = {}): string {
  const query = new URLSearchParams();
  let address = path;
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined || value === '') continue;
    if (address.includes(`{${name}}`)) address = address.replace(`{${name}}`, encodeURIComponent(value));
    else query.set(name, String(value));
  }
  const text = query.toString();
  return text === '' ? address : `${address}?${text}`;
}

/** Sends a request with the session cookie. Throws ApiFailure unless the status is a success or one of `also`. */
export async function call(address: string, init: RequestInit = {}, also: readonly number[] = []): Promise<Response> {
  const answer = await fetch(address, { credentials: 'same-origin', ...init }).catch((error: unknown) => {
    if (init.signal?.aborted) throw error;
    serviceAnswers(false);
    throw new ApiFailure(0, 'The service does not respond', 'It may be restarting; the page retries automatically.');
  });
  serviceAnswers(true);
  const limit = answer.headers.get('x-ratelimit-limit');
  if (limit !== null) {
    allowance = { limit: Number(limit), remaining: Number(answer.headers.get('x-ratelimit-remaining')) };
  }
  if (answer.ok || also.includes(answer.status)) return answer;
  if (answer.status === 401 && !new Headers(init.headers).has('x-api-key')) dispatchEvent(new Event(SIGNED_OUT));
  const body: unknown = await answer.json().catch(() => null);
  const { message = `Status ${answer.status}`, resolution = '', error_text = '' } = errorOf(body);
  const { message: text, advice } = failureText({ message, resolution, error_text });
  throw new ApiFailure(answer.status, text, advice, Number(answer.headers.get('retry-after') ?? 0));
}

function errorOf(body: unknown): { message?: string; resolution?: string; error_text?: string } {
  return (body as { error?: object } | null)?.error ?? {};
}

export async function get<P extends Path>(path: P, params?: Params, signal?: AbortSignal): Promise<Answers[P]> {
  const answer = await call(addressOf(path, params), signal ? { signal } : {});
  return (await answer.json()) as Answers[P];
}

/** A call that changes state. `key` is an API key, for routes that do not accept a session. */
export async function send<T>(
  method: 'POST' | 'PATCH' | 'DELETE',
  address: string,
  body?: object,
  key?: string,
): Promise<T> {
  const headers: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
  if (key !== undefined) headers['x-api-key'] = key;
  const answer = await call(address, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await answer.json()) as T;
}

export interface Loaded<T> {
  /** The last answer; kept while the next request is pending or fails. */
  data: T | undefined;
  failure: ApiFailure | undefined;
  /** When `data` arrived, in Unix milliseconds. */
  at?: number;
  /** When `data` was requested, in Unix milliseconds. */
  askedAt?: number;
  loading: boolean;
  reload: () => void;
}

/**
 * Requests a path while the page is visible: when `params` change, after temporary failures, and every `everyMs` unless that is 0.
 * Sends nothing if `params` is null.
 */
export function useApi<P extends Path>(path: P, params: Params | null, everyMs = 0): Loaded<Answers[P]> {
  const address = params === null ? null : addressOf(path, params);
  return useRepeated<Answers[P]>(
    address,
    async (signal) => (await (await call(address ?? '', { signal })).json()) as Answers[P],
    everyMs,
  );
}

/** The same for any loader. `key` identifies the request: when it changes, the last answer is discarded. */
export function useRepeated<T>(
  key: string | null,
  load: (signal: AbortSignal) => Promise<T>,
  everyMs: number,
): Loaded<T> {
  const [state, setState] = useState<{
    key: string | null;
    data?: T;
    at?: number;
    askedAt?: number;
    failure?: ApiFailure;
  }>({
    key: null,
  });
  const [turn, setTurn] = useState(0);
  const loader = useRef(load);
  loader.current = load;
  useEffect(() => {
    if (key === null) return;
    const ending = new AbortController();
    let timer = 0;
    // Data that is not polled does not become old by a failure.
    let answered = everyMs > 0 && state.key === key && state.data !== undefined;
    const ask = async (): Promise<void> => {
      if (document.hidden) {
        document.addEventListener('visibilitychange', () => void ask(), { once: true, signal: ending.signal });
        return;
      }
      let nextMs = paced(everyMs);
      const askedAt = Date.now();
      try {
        const data = await loader.current(ending.signal);
        if (ending.signal.aborted) return;
        answered = true;
        refreshFails(ending, false);
        setState({ key, data, at: Date.now(), askedAt });
      } catch (error) {
        if (ending.signal.aborted) return;
        const failure = error instanceof ApiFailure ? error : new ApiFailure(0, String(error), '');
        refreshFails(ending, answered);
        setState((before) => (before.key === key ? { ...before, failure } : { key, failure }));
        nextMs = Math.max(nextMs, failure.retryMs ?? 0);
      }
      if (nextMs > 0 && !ending.signal.aborted) timer = setTimeout(() => void ask(), nextMs);
    };
    void ask();
    return () => {
      ending.abort();
      clearTimeout(timer);
      refreshFails(ending, false);
    };
  }, [key, everyMs, turn]);
  const current = state.key === key;
  return {
    data: current ? state.data : undefined,
    failure: current ? state.failure : undefined,
    ...(current && state.at !== undefined ? { at: state.at } : {}),
    ...(current && state.askedAt !== undefined ? { askedAt: state.askedAt } : {}),
    loading: key !== null && (!current || (state.data === undefined && state.failure === undefined)),
    reload: () => setTurn((n) => n + 1),
  };
}
