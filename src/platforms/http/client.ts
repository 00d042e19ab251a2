import { waitUntil } from '../../core/retry.ts';
import type { Clock } from '../../core/time.ts';
import type { PlatformReply, PlatformRequest, PlatformHttp } from './request.ts';
import { Agent } from 'undici';
import { PlatformError, type PlatformErrorKind } from '../../core/errors.ts';
import type { Shared } from '../../stores/shared/shared.ts';
import type { Log } from '../../core/log.ts';
import type { Platform } from '../../core/model.ts';
import { Breaker, type CallTerms } from './breaker.ts';
import { PlatformClocks } from './clocks.ts';
import { answerError, answerWords, NotSentError, type Answer } from './errors.ts';
import { exchange } from './exchange.ts';
import { RequestQueue, type Queue } from './queue.ts';
import { limitPauseMs, withRetries } from './retry.ts';
import { withDeadline } from './deadline.ts';
import { parseWireJson } from './wire-json.ts';
import type { LimitGroupName } from '../manifests.ts';

/** An attempt that was sent, for metrics. */
export interface AttemptReport {
  platform: Platform;
  group: LimitGroupName;
  /** HTTP status, 0 when there was no answer. */
  status: number;
  outcome: 'ok' | PlatformErrorKind;
  /** From sending to the last byte. */
  ms: number;
}

interface PlatformHttpDeps {
  shared: Shared;
  log: Log;
  clock: Clock;
  onRequest?: (report: AttemptReport) => void;
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 20 * 1024 * 1024;
const CLOSE_MS = 3000;

interface Wire {
  agent: Agent;
  queue: RequestQueue;
  /** Cancel functions of the attempts in flight. */
  inFlight: Set<() => void>;
  clock: Clock;
  onRequest: PlatformHttpDeps['onRequest'];
  clocks: PlatformClocks;
}

/** The HTTP client to the platforms for one process: retry(breaker(queue(exchange))). */
export function createPlatformHttp({
  shared,
  log,
  clock,
  onRequest,
}: PlatformHttpDeps): PlatformHttp & { queues(): Queue[]; skewMs(platform: Platform): number } {
  // Our own time-out covers headers and body together.
  const agent = new Agent({ connections: 64, connect: { timeout: 5000 }, headersTimeout: 0, bodyTimeout: 0 });
  const queue = new RequestQueue(shared, log, clock);
  const breakers = new Map<string, Breaker>();
  const inFlight = new Set<() => void>();
  const clocks = new PlatformClocks();
  const wire: Wire = { agent, queue, inFlight, clock, onRequest, clocks };
  let closing = false;

  const breakerOf = ({ platform, url, circuit = 'read' }: PlatformRequest): Breaker => {
    const { origin } = new URL(url);
    const name = `${circuit} ${origin}`;
    const breaker =
      breakers.get(name) ?? new Breaker(platform, clock, (text) => log.warn({ platform, origin, circuit }, text));
    breakers.set(name, breaker);
    return breaker;
  };

  return {
    async send(request) {
      if (leavesItsPath(request.url)) {
        throw new NotSentError(request.platform, 'refused', { detail: 'an id that cannot be a path segment' });
      }
      const timeoutMs = request.timeoutMs ?? TIMEOUT_MS;
      const breaker = breakerOf(request);
      const terms: CallTerms = {
        always: request.circuit === 'cancel' || request.forOrder === true,
        isExcused: () => closing || request.signal?.aborted === true || request.failedBefore === true,
      };
      return withRetries(
        request,
        (n) => {
          let sentOff: (() => void) | undefined;
          return breaker.run(
            (call) =>
              queue.pass(request, timeoutMs, (sent) => {
                sentOff = sent;
                return call();
              }),
            () => attempt(wire, request, { breaker, timeoutMs, n, onSent: sentOff }),
            terms,
          );
        },
        (ms) => queue.rest(request, ms),
      );
    },

    queues: () => queue.queues(),

    skewMs: (platform) => clocks.skewMs(platform),

    async close() {
      closing = true;
      queue.close();
      await waitUntil(() => inFlight.size === 0, { withinMs: CLOSE_MS, everyMs: 20, clock });
      for (const cancel of inFlight) cancel();
      await agent.destroy();
    },
  };
}

/** One attempt, reported to the metrics; a 429 pauses its group. */
async function attempt(
  { agent, queue, inFlight, clock, onRequest, clocks }: Wire,
  request: PlatformRequest,
  {
    breaker,
    timeoutMs,
    n,
    onSent,
  }: { breaker: Breaker; timeoutMs: number; n: number; onSent: (() => void) | undefined },
): Promise<PlatformReply> {
  const { platform, group } = request;
  const failed = (kind: PlatformErrorKind, detail: string) => () => new PlatformError(platform, kind, { detail });
  const limit = {
    ms: timeoutMs,
    late: failed('timeout', `no answer within ${timeoutMs} ms`),
    cancelled: failed('unavailable', 'cancelled'),
  };
  const started = clock.elapsed();
  const report = (status: number, outcome: AttemptReport['outcome']): void =>
    onRequest?.({ platform, group, status, outcome, ms: clock.elapsed() - started });
  const sentAtMs = clock.now();
  try {
    const answer = await withDeadline(clock, limit, request.signal, inFlight, (signal) =>
      exchange(agent, request, { maxBytes: request.maxBytes ?? MAX_BYTES, signal, onSent }),
    );
    const receivedAtMs = clock.now();
    clocks.note(platform, answer, sentAtMs, receivedAtMs);
    const reply = toReply(platform, answer, { receivedAtMs, skewMs: clocks.skewMs(platform) });
    report(reply.status, 'ok');
    return reply;
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    report(error.status, error.kind);
    if (error.kind === 'rate_limited') {
      const pauseMs = Math.round(limitPauseMs(error, n));
      queue.pause(request, { pauseMs, keepsPace: breaker.standsStill, detail: error.detail });
    }
    throw error;
  }
}

/** Whether a path segment consists of dots, encoded or not, or contains what URLs drop or treat as a slash. */
function leavesItsPath(url: string): boolean {
  const path = /^[^?#]*/.exec(url)?.[0] ?? '';
  return /[\s\p{Cc}\\]/u.test(path) || path.split('/').some((segment) => /^(\.|%2e)+$/i.test(segment));
}

/** The answer as a reply; throws PlatformError unless it is 2xx with JSON or an empty body. */
function toReply(
  platform: Platform,
  answer: Answer,
  { receivedAtMs, skewMs }: { receivedAtMs: number; skewMs: number },
): PlatformReply {
  const json = parsed(answer.text);
  if (answer.status < 200 || answer.status >= 300)
    throw answerError(platform, answer, json, { nowMs: receivedAtMs, skewMs });
  if (json === undefined) {
    const detail = `not JSON: ${answerWords(answer.text, undefined)}`;
    throw new PlatformError(platform, 'bad_answer', { status: answer.status, detail });
  }
  return { ...answer, json, receivedAt: new Date(receivedAtMs).toISOString() };
}

/** null for an empty body, undefined if it is not JSON. */
function parsed(text: string): unknown {
  if (text.trim() === '') return null;
  try {
    return parseWireJson(text);
  } catch {
    return undefined;
  }
}
