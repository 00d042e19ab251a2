import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Spool } from '../../../ingest/spool/spool.ts';
import { Watermarks } from '../../../ingest/watermarks.ts';
import { buildPresent, catchUp } from '../../../src/present/catch-up.ts';
import { systemClock } from '../../../src/core/time.ts';
import { TradeCopier } from '../../../src/present/trades/copier.ts';
import type { ClickHouse } from '../../../src/stores/clickhouse/client.ts';
import { LEASE } from '../../helpers/market-store.ts';
import { openOwnClickHouse } from '../../helpers/own-clickhouse.ts';
import { differences, openPresent, type TestPresent } from '../../helpers/present.ts';
import { silent } from '../../helpers/silent-log.ts';
import { tapeDifferences } from '../../helpers/tapes.ts';
import { noCopier, tradeWriter } from '../../helpers/trade-writer.ts';

const KILLS = Number(process.env['KILLS'] ?? 3);
const WRITING = new URL('../../helpers/writing-process.ts', import.meta.url).pathname;

let directory: string;
let clickhouseUrl: string;
let clickhouse: ClickHouse;
let present: TestPresent;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'forecastle-present-'));
  ({ clickhouse, url: clickhouseUrl } = await openOwnClickHouse());
  present = await openPresent(clickhouse);
  await buildPresent({ clickhouse, postgres: present.postgres, log: silent });
  // Else volumes of markets without trades would become known with the first reading of the feed, and be copied with the next sweep.
  const read = new Watermarks(clickhouse, 'polymarket', systemClock, noCopier);
  await read.move('', LEASE, () => ({ fromUs: 0, toUs: Date.now() * 1000, marker: '' }));
});
afterAll(async () => {
  await present.close();
  await clickhouse.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Statements that ClickHouse still runs in this database. It ends what a killed process began. */
const running = () =>
  clickhouse.sql<{ query: string }>(
    'SELECT query FROM system.processes WHERE current_database = currentDatabase() AND query_id != queryID()',
  );

test(`after each of ${KILLS} kills at any moment of writing, the next process makes every row of PostgreSQL that of ClickHouse`, async () => {
  const stores = { clickhouse, postgres: present.postgres, log: silent };
  const spool = join(directory, 'spool');
  for (let run = 0; run < KILLS; run += 1) {
    const writer = spawn(
      process.execPath,
      ['--import', 'tsx', WRITING, clickhouseUrl, present.url, spool, String(run)],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    await once(writer.stdout, 'data');
    await sleep(Math.random() * 1500);
    writer.kill('SIGKILL');
    await once(writer, 'exit');
    await vi.waitFor(async () => expect(await running()).toEqual([]), { timeout: 20_000 });
    // As the next holder of the lease: first the unfinished batches, then what was not copied.
    const copier = new TradeCopier({ ...stores, clock: systemClock }, 'polymarket');
    await tradeWriter({
      clickhouse,
      spool: await Spool.open(spool),
      log: silent,
      platform: 'polymarket',
      copier,
      clock: systemClock,
    }).open(LEASE, new Date());
    await catchUp(stores, 'polymarket', { trades: true, copier });
    expect(await differences(stores, 'polymarket')).toEqual([]);
    expect(await tapeDifferences(stores, 'polymarket')).toEqual([]);
  }
});
