import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../../src/stores/clickhouse/client.ts';
import { startOrderStores } from '../../helpers/order-stores.ts';
import { startProcess } from '../../helpers/process.ts';
import { readUntil } from './clients.ts';

/** Rows of one INSERT. */
const CHUNK_ROWS = 200_000;

export interface ResumeResult {
  events: number;
  /** Events a second of one client that comes back behind all of them. */
  oursPerSecond: number;
  /** The same rows read from the store over HTTP as they are, sorted, by a client that counts their bytes. */
  storePerSecond: number;
}

/** A client that comes back and has many trades to catch up with. */
export async function benchResume(events: number): Promise<ResumeResult> {
  const stores = await startOrderStores();
  const { key } = await stores.within(({ customer }) => customer());
  const service = startProcess('api', { ...stores.env, PLATFORMS: 'kalshi' });
  const clickhouse = connect(stores.env['CLICKHOUSE_URL'] ?? '');
  try {
    const origin = await service.ready;
    const openedMs = Date.now() - 3_600_000;
    await clickhouse.command(
      `INSERT INTO log_epochs (feed, platform, epoch, opener, previous_end, opened_at)
       VALUES ('trades', 'kalshi', 1, generateUUIDv4(), 0, fromUnixTimestamp64Milli({openedMs:Int64}))`,
      { openedMs },
    );
    for (let from = 0; from < events; from += CHUNK_ROWS) {
      await clickhouse.command(EVENTS, { from, count: Math.min(CHUNK_ROWS, events - from), openedMs });
    }
    await sleep(2000);
    const readAt = performance.now();
    const rows = await clickhouse.stream(
      'log_rows',
      { feed: 'trades', platform: 'kalshi', after: 0, limit: events },
      'JSONEachRow',
    );
    for await (const _ of rows);
    const storeSeconds = (performance.now() - readAt) / 1000;
    const since = new Date(openedMs + 1000).toISOString();
    const url = `${origin}/v1/api/stream?channels=trades&platform=kalshi&since=${since}`;
    const seconds = await readUntil({ streams: [{ url, key }], events: ['trade'], lookIntoEvery: 1, until: events });
    return {
      events,
      oursPerSecond: Math.round(events / seconds),
      storePerSecond: Math.round(events / storeSeconds),
    };
  } finally {
    await clickhouse.close();
    service.kill('SIGTERM');
    await service.ended;
    await stores.close();
  }
}

/** Trades as they are logged, some 800 bytes each. */
const EVENTS = `
INSERT INTO event_log (feed, platform, sequence, ref, event_id, size, notional, item_text, data, logged_at)
SELECT 'trades', 'kalshi', 4294967296 + number + 1 + {from:UInt64} AS sequence, concat('KXBENCH-', toString(sequence % 500)) AS ref, 'E', 10, 5,
  toString(generateUUIDv4()) AS id,
  concat('{"id":"', id, '","platform":"kalshi","market_id":"', ref, '","market_title":"Will number ', ref, ' come out on top?","side":"buy","outcome":"yes","price":0.', toString(10 + cityHash64(sequence) % 90), ',"size":', toString(1 + cityHash64(sequence, 1) % 1000), ',"pad":"', repeat('x', 430), '","exchange_at":"2026-11-23T10:00:00.000Z","received_at":"2026-11-23T10:00:00.100Z"}'),
  fromUnixTimestamp64Milli(toInt64({openedMs:Int64} + 2000 + (number + {from:UInt64}) / 1000))
FROM numbers({count:UInt64})`;
