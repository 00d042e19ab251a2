import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Log } from '../../core/log.ts';
import { doubling, retry } from '../../core/retry.ts';
import type { Clock } from '../../core/time.ts';

/** Messages of a channel, as they arrive. */
export interface Heard {
  /** Since when every message arrives, Unix ms; null while some may be missed. */
  since(): number | null;
  close(): Promise<void>;
}

const FIRST_WAIT_MS = 100;
const MOST_WAIT_MS = 3000;
/** Prefix of the message that tests whether a connection receives. Another connection sends it. */
const MARK = 'listening ';

interface HearOptions {
  channel: string;
  onMessage: (text: string) => void;
  /** Sends a message to the channel from another connection. */
  send: (text: string) => Promise<unknown>;
  /** How often the connection is checked, and how long an answer may take; undefined for a server that cannot vanish without an end. */
  checkMs?: number | undefined;
  log: Log;
  clock: Clock;
}

/**
 * Calls back with each message of a channel, from a connection of its own that is opened again when it is lost. It counts only once it has
 * heard a message from another connection: a pooler may pass none on.
 */
export function hearChannel(
  config: pg.ClientConfig,
  { channel, onMessage, send, checkMs, log, clock }: HearOptions,
): Heard {
  const closing = new AbortController();
  let client: pg.Client | null = null;
  let since: number | null = null;

  /** Resolves when the connection, once open, is lost. */
  async function listen(): Promise<void> {
    const mark = `${MARK}${randomUUID()}`;
    const own = new pg.Client(config);
    client = own;
    let stopChecks: (() => void) | undefined;
    const lost = new Promise<void>((resolve) => own.on('error', () => resolve()).on('end', resolve));
    own.on('notification', ({ payload = '' }) => {
      if (payload === mark) since = clock.now();
      else if (!payload.startsWith(MARK)) onMessage(payload);
    });
    try {
      // pg never settles connect() if the connection is ended before it is open.
      await Promise.race([own.connect(), lost]);
      await own.query(`LISTEN ${channel}`);
      await send(mark);
      if (checkMs !== undefined) stopChecks = clock.every(checkMs, () => check(own, checkMs));
      await lost;
    } finally {
      stopChecks?.();
      since = null;
      await own.end().catch(() => {});
    }
  }

  /** Ends a connection that does not answer. A repeated LISTEN has no effect. */
  async function check(own: pg.Client, timeoutMs: number): Promise<void> {
    const again = { text: `LISTEN ${channel}`, query_timeout: timeoutMs };
    await own.query(again).catch(() => own.end().catch(() => {}));
  }

  const sleep = (ms: number): Promise<void> => clock.sleep(ms, closing.signal);
  const again = doubling(FIRST_WAIT_MS, MOST_WAIT_MS);
  const waitMs = (error: unknown, n: number): number | null => {
    if (n === 0 && !closing.signal.aborted)
      log.warn({ err: error, channel }, 'Failed to listen to a PostgreSQL channel');
    return again(error, n);
  };
  async function listenOn(): Promise<void> {
    for (;;) {
      await retry(listen, { waitMs, sleep });
      await sleep(FIRST_WAIT_MS);
      log.warn({ channel }, 'PostgreSQL dropped the connection of a channel');
    }
  }
  const ended = listenOn().catch(() => {});
  return {
    since: () => since,
    async close() {
      closing.abort();
      await client?.end().catch(() => {});
      await ended;
    },
  };
}
