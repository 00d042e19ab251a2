import type { AddressInfo } from 'node:net';
import { systemClock } from '../../src/core/time.ts';
import { EventAppender } from '../../ingest/event-appender.ts';
import type { Platform } from '../../src/core/model.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { startTestApp, type TestApp } from './app.ts';
import { LEASE } from './market-store.ts';
import { openOwnClickHouse } from './own-clickhouse.ts';

/** The API over a log of events that a test writes itself. */
export interface StreamRig {
  readonly clickhouse: ClickHouse;
  readonly app: TestApp;
  /** http://127.0.0.1:PORT */
  readonly origin: string;
  /** Logs trades of these ids, of one market and one taker, with `pad` characters more each. */
  log(platform: Platform, ids: readonly string[], pad?: number, ref?: string, address?: string): Promise<void>;
  /** Opens a new epoch, as a writer that takes over. */
  takeOver(platform: Platform): Promise<void>;
  close(): Promise<void>;
}

export async function startStreamRig(): Promise<StreamRig> {
  const { clickhouse } = await openOwnClickHouse();
  const app = await startTestApp({ clickhouse });
  await app.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.app.server.address() as AddressInfo;
  const { log } = app.deps;
  const appenders = new Map<Platform, EventAppender>();
  const appenderOf = async (platform: Platform): Promise<EventAppender> => {
    const known = appenders.get(platform);
    if (known) return known;
    const made = new EventAppender(
      { clickhouse, shared: app.shared, log, clock: systemClock },
      { feed: 'trades', platform },
    );
    await made.open(LEASE);
    appenders.set(platform, made);
    return made;
  };
  return {
    clickhouse,
    app,
    origin: `http://127.0.0.1:${port}`,
    async log(platform, ids, pad = 0, ref = 'R', address = '') {
      const appender = await appenderOf(platform);
      const events = ids.map((id) => ({
        ref,
        eventId: 'E',
        size: '10',
        notional: '5',
        item: id,
        data: JSON.stringify({ trade_id: id, platform, trader: { address }, pad: 'x'.repeat(pad) }),
      }));
      await appender.append(events, LEASE);
    },
    async takeOver(platform) {
      appenders.delete(platform);
      await appenderOf(platform);
    },
    async close() {
      await app.close();
      await clickhouse.close();
    },
  };
}
