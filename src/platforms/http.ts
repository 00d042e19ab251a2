import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import { PlatformError, type PlatformErrorKind } from '../errors.ts';
import type { Log, Shared } from '../redis.ts';
import type { Platform } from '../schemas.ts';
import { Breaker } from './http-breaker.ts';
import { answerError, answerWords, NotSentError, type Answer } from './http-errors.ts';
import { exchange } from './http-exchange.ts';
import { Lane } from './http-lane.ts';
import { limitPauseMs, withRetries } from './http-retry.ts';
import { within } from './http-within.ts';
import { RecentMap } from './recent-map.ts';
import { isLimitGroup, LIMIT_GROUPS, type LimitGroupName } from './limits.ts';

/** A user waits behind `live`; `poll` keeps the store fresh; `backfill` takes what is left. */
export type Priority = 'live' | 'poll' | 'backfill';

/** One request to a platform. The budget of `group` is taken before it is sent. */
export interface PlatformRequest {
  platform: Platform;
  /** What the platform counts this call under; reads without a Kalshi key are `kalshi:anonymous`. */
  group: LimitGroupName;
  /** Whose limit it is, where the platform counts by account; those without share one. */
  account?: string;
  method: 'GET' | 'POST' | 'DELETE';
  url: string;
  /** Sent as it is; the caller sets the content type. */
  body?: string;
  /** A function is called for each attempt as it leaves: signatures carry the time. */
  headers?: Record<string, string> | (() => Record<string, string>);
  priority: Priority;
  /** Tokens taken from the bucket; default the group's cost of one call. */
  cost?: number;
  /** From sending to the last byte of the body, each attempt anew; default 10 s. */
  timeoutMs?: number;
  /** Largest body, unpacked; default 20 MiB. */
  maxBytes?: number;
  /** true only for calls without effect: a GET, a read that is a POST, a cancel. */
  retry: boolean;
  signal?: AbortSignal;
}

export interface PlatformReply {
  status: number;
  headers: Record<string, string>;
  text: string;
  /** Parsed body, null when it is empty. Money must be read from strings or String(number), never computed on. */
  json: unknown;
  /** ISO time of receipt. */
  receivedAt: string;
}

/**
 * Sends requests through the platform's budget with time-outs, size limits, retries of reads, and a breaker per host.
 * Resolves for 2xx only; every other outcome is a PlatformError, a NotSentError when the request never left.
 */
export interface PlatformHttp {
  send(request: PlatformRequest): Promise<PlatformReply>;
  /** Refuses what waits, gives what is in flight 3 s to end. */
  close(): Promise<void>;
}

/** Requests that wait in this process, by the budget they wait for. */
export interface Queue {
  budget: string;
  waiting: number;
}

/** One attempt that was sent, for metrics. */
export interface AttemptReport {
  platform: Platform;
  group: LimitGroupName;
  /** HTTP status, 0 when there was no answer. */
  status: number;
  /** What the attempt came to. */
  outcome: 'ok' | PlatformErrorKind;
  /** From sending to the last byte. */
  ms: number;
  /** Attempts of the same request before this one. */
  retries: number;
}

export interface PlatformHttpDeps {
  shared: Shared;
  log: Log;
  now?: () => number;
  onRequest?: (report: AttemptReport) => void;
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 20 * 1024 * 1024;
const CLOSE_MS = 3000;
/** Accounts beyond this many begin anew when they come back; their platform remembers. */
const MAX_LANES = 5000;
/** Longest wait for a departure. */
const QUEUE_MS: Record<Priority, number> = { live: 5000, poll: 60_000, backfill: 300_000 };
/** Limitless bans addresses that go on at full pace after a 429. */
const SLOW_MS = 300_000;
/** Carries "<group> <pause in ms> <account>" after a 429, to every process. */
const LIMITS_CHANNEL = 'platform-limits';

/** Opens the way to the platforms for one process. */
export function createPlatformHttp({
  shared,
  log,
  now = Date.now,
  onRequest,
}: PlatformHttpDeps): PlatformHttp & { queues(): Queue[] } {
  // The one time-out over headers and body together is ours.
  const agent = new Agent({ connections: 64, connect: { timeout: 5000 }, headersTimeout: 0, bodyTimeout: 0 });
  const lanes = new RecentMap<string, Lane>(MAX_LANES);
  const breakers = new Map<string, Breaker>();
  const waiting = new Set<() => void>();
  const flying = new Set<() => void>();
  let closing = false;

  const laneOf = (group: LimitGroupName, share: 'live' | 'background', account = ''): Lane => {
    const limits = LIMIT_GROUPS[group];
    const platform = group.slice(0, group.indexOf(':')) as Platform;
    const name = account === '' ? limits[share].name : `${limits[share].name}/${account}`;
    return kept(lanes, name, () => new Lane(platform, limits, { ...limits[share], name }, shared));
  };

  void shared.subscribe(LIMITS_CHANNEL, (message) => {
    const [group = '', pauseMs, ...account] = message.split(' ');
    if (!isLimitGroup(group) || !(Number(pauseMs) >= 0)) return;
    for (const share of ['live', 'background'] as const) {
      const lane = laneOf(group, share, account.join(' '));
      lane.pause(Number(pauseMs));
      if (group === 'limitless:all') lane.slow(SLOW_MS);
    }
  });

  /** Waits until the request may leave. */
  const depart = (request: PlatformRequest, timeoutMs: number): Promise<() => void> => {
    const { platform, group, priority, account } = request;
    const lane = laneOf(group, priority === 'live' ? 'live' : 'background', account);
    const waitMs = priority === 'live' ? Math.min(QUEUE_MS.live, timeoutMs) : QUEUE_MS[priority];
    const notSent = (detail: string) => () =>
      new NotSentError(platform, 'unavailable', { detail: `${group}: ${detail}`, retryAfterMs: 1000 });
    const entry = {
      cost: request.cost ?? LIMIT_GROUPS[group].cost,
      priority: priority === 'live' && request.method !== 'GET' ? ('order' as const) : priority,
      waitMs,
      holdMs: timeoutMs,
    };
    return within(
      { ms: waitMs, late: notSent('queue too long'), cancelled: notSent('cancelled') },
      request.signal,
      waiting,
      (signal) => lane.enter({ ...entry, signal }),
    );
  };

  const exchanged = async (request: PlatformRequest, timeoutMs: number): Promise<PlatformReply> => {
    const { platform } = request;
    const failed = (kind: PlatformErrorKind, detail: string) => () => new PlatformError(platform, kind, { detail });
    const limit = {
      ms: timeoutMs,
      late: failed('timeout', `no answer within ${timeoutMs} ms`),
      cancelled: failed('unavailable', 'cancelled'),
    };
    const answer = await within(limit, request.signal, flying, (signal) =>
      exchange(agent, request, request.maxBytes ?? MAX_BYTES, signal),
    );
    return toReply(platform, answer, now());
  };

  /** One attempt on the wire, told to the metrics; a 429 pauses its group in every process. */
  const observed = async (request: PlatformRequest, timeoutMs: number, retries: number): Promise<PlatformReply> => {
    const { platform, group } = request;
    const started = performance.now();
    const report = (status: number, outcome: AttemptReport['outcome']): void =>
      onRequest?.({ platform, group, status, outcome, ms: performance.now() - started, retries });
    try {
      const reply = await exchanged(request, timeoutMs);
      report(reply.status, 'ok');
      return reply;
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      report(error.status, error.kind);
      if (error.kind === 'rate_limited') {
        const pauseMs = Math.round(limitPauseMs(error, retries));
        log.warn({ group, pauseMs, detail: error.detail }, 'The platform limits our rate');
        void shared.publish(LIMITS_CHANNEL, `${group} ${pauseMs} ${request.account ?? ''}`);
      }
      throw error;
    }
  };

  /** Sleeps between attempts; the caller and close may wake it. */
  const rest = (request: PlatformRequest, ms: number): Promise<void> => {
    const woken = () => new NotSentError(request.platform, 'unavailable', { detail: 'cancelled' });
    return within({ ms: ms + 1000, late: woken, cancelled: woken }, request.signal, waiting, (signal) =>
      sleep(ms, undefined, { signal }),
    );
  };

  const attempt = async (request: PlatformRequest, retries: number): Promise<PlatformReply> => {
    const { platform } = request;
    if (closing) throw new NotSentError(platform, 'unavailable', { detail: 'shutting down' });
    const timeoutMs = request.timeoutMs ?? TIMEOUT_MS;
    const { origin } = new URL(request.url);
    const breaker = kept(breakers, origin, () => new Breaker(platform, (text) => log.warn({ platform, origin }, text)));
    breaker.check();
    const arrive = await depart(request, timeoutMs);
    try {
      return await breaker.watch(
        () => observed(request, timeoutMs, retries),
        () => closing || request.signal?.aborted === true,
      );
    } finally {
      arrive();
    }
  };

  return {
    send: (request) =>
      withRetries(
        request,
        (retries) => attempt(request, retries),
        (ms) => rest(request, ms),
      ),

    queues: () => [...lanes.entries()].map(([budget, { waiting }]) => ({ budget, waiting })),

    async close() {
      closing = true;
      for (const cancel of waiting) cancel();
      const end = performance.now() + CLOSE_MS;
      while (flying.size > 0 && performance.now() < end) await sleep(20);
      for (const cancel of flying) cancel();
      await agent.destroy();
    },
  };
}

/** The answer as a reply; throws PlatformError unless it is 2xx with JSON or nothing in it. */
function toReply(platform: Platform, answer: Answer, receivedAtMs: number): PlatformReply {
  const json = parsed(answer.text);
  if (answer.status < 200 || answer.status >= 300) throw answerError(platform, answer, json);
  if (json === undefined) {
    const detail = `not JSON: ${answerWords(answer.text, undefined)}`;
    throw new PlatformError(platform, 'bad_answer', { status: answer.status, detail });
  }
  return { ...answer, json, receivedAt: new Date(receivedAtMs).toISOString() };
}

/** null for an empty body, undefined for one that is not JSON. */
function parsed(text: string): unknown {
  if (text.trim() === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function kept<V>(
  map: Pick<Map<string, V>, 'get'> & { set(key: string, value: V): void },
  key: string,
  make: () => V,
): V {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}
