import { readFileSync } from 'node:fs';
import { type BookSpan, changeMs, expectedBook, fillBooks, STEP_MS } from './fill-books.ts';
import { quantile } from '../quantile.ts';
import { fillStore } from '../fill.ts';
import { connect } from '../../../src/stores/clickhouse/client.ts';
import { startOrderStores } from '../../helpers/order-stores.ts';
import { startProcess } from '../../helpers/process.ts';
import { createRng } from '../../simulators/lib/index.ts';

const MARKETS = 400;
/** Below what a user may ask in a minute. */
const REQUESTS_OF_USER = 400;
const WARM_UP = 20;

export interface BookAtResult {
  changes: number;
  instants: number;
  p50: number;
  p99: number;
  /** The statements of a call alone, turn about with the calls. */
  sqlP50: number;
  sqlP99: number;
}

/** Order books at random instants among many changes, each compared with what the changes lead to. Milliseconds of a call. */
export async function benchBookAt(changes: number, instants: number): Promise<BookAtResult> {
  const stores = await startOrderStores();
  const users = Math.ceil((instants + WARM_UP) / REQUESTS_OF_USER);
  const keys = await stores.within(({ customer }) => Promise.all(Array.from({ length: users }, () => customer())));
  const service = startProcess('api', stores.env);
  const clickhouse = connect(stores.env['CLICKHOUSE_URL'] ?? '');
  try {
    const origin = await service.ready;
    const { kalshi: refs } = await fillStore(clickhouse, { trades: 0, markets: MARKETS });
    const span: BookSpan = { refs, changes: Math.ceil(changes / refs.length), endMs: Date.now() - 60_000 };
    await fillBooks(clickhouse, span);
    const rng = createRng(changes);
    const [calls, alone]: [number[], number[]] = [[], []];
    for (let turn = -WARM_UP; turn < instants; turn += 1) {
      const market = Math.floor(rng.next() * refs.length);
      const change = Math.floor(rng.next() * span.changes);
      const atMs = changeMs(span, change) + Math.floor(rng.next() * STEP_MS);
      const ref = refs[market] ?? '';
      const key = keys[(turn + WARM_UP) % users]?.key ?? '';
      const url = `${origin}/v1/api/markets/id/${ref}/orderbook?provider=kalshi&at=${new Date(atMs).toISOString()}`;
      const began = performance.now();
      const reply = await fetch(url, { headers: { 'x-api-key': key } });
      const text = await reply.text();
      const took = performance.now() - began;
      if (reply.status !== 200) throw new Error(`${url} answered ${reply.status} ${text}`);
      const { yes } = (JSON.parse(text) as { data: { yes: { bids: object; asks: object } } }).data;
      const expected = expectedBook(market, change);
      if (JSON.stringify([yes.bids, yes.asks]) !== JSON.stringify([expected.bids, expected.asks]))
        throw new Error(`${url} is not the book of change ${change}: ${text.slice(0, 400)}`);
      const sqlMs = await statements(clickhouse, ref, atMs);
      if (turn < 0) continue;
      calls.push(took);
      alone.push(sqlMs);
    }
    return {
      changes: span.changes * refs.length,
      instants,
      p50: quantile(calls, 0.5),
      p99: quantile(calls, 0.99),
      sqlP50: quantile(alone, 0.5),
      sqlP99: quantile(alone, 0.99),
    };
  } finally {
    await clickhouse.close();
    service.kill('SIGTERM');
    await service.ended;
    await stores.close();
  }
}

const textOf = (name: string): string =>
  readFileSync(new URL(`../../../sql/queries/${name}.sql`, import.meta.url), 'utf8');
const SNAPSHOT = textOf('book_snapshot_at');
const RECORDED = textOf('book_recorded');
const CHANGES = textOf('book_changes_after');

async function statements(clickhouse: ReturnType<typeof connect>, ref: string, atMs: number): Promise<number> {
  const span = { platform: 'kalshi', ref, at_ms: atMs, after_ms: atMs - 600_000 };
  const began = performance.now();
  const [[snapshot]] = await Promise.all([
    clickhouse.sql<{ sequence: string }>(SNAPSHOT, span),
    clickhouse.sql(RECORDED, span),
  ]);
  await clickhouse.sql(CHANGES, { ...span, sequence: snapshot?.sequence ?? 0 });
  return performance.now() - began;
}
