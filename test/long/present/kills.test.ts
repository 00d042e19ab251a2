import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Spool } from '../../../ingest/spool/spool.ts';
import { TradeWriter } from '../../../ingest/trade-writer.ts';
import { buildPresent, catchUp } from '../../../src/present/catch-up.ts';
import { systemClock } from '../../../src/core/time.ts';
import { TradeCopier } from '../../../src/present/trades/copier.ts';
import type { ClickHouse } from '../../../src/stores/clickhouse/client.ts';
import { LEASE } from '../../helpers/market-store.ts';
import { openOwnClickHouse } from '../../helpers/own-clickhouse.ts';
import { differences, openPresent, type TestPresent } from '../../helpers/present.ts';
import { silent } from '../../helpers/silent-log.ts';
import { tapeDifferences } from '../../helpers/tapes.ts';

const KILLS = Number(process.env['KILLS'] ?? 6);
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
});
afterAll(async () => {
  await present.close();
  await clickhouse.close();
  rmSync(directory, { recursive: true, force: true });
});

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
    // As the next holder of the lease: first the unfinished batches, then what was not copied.
    const copier = new TradeCopier({ ...stores, clock: systemClock }, 'polymarket');
    await new TradeWriter({
      clickhouse,
      spool: await Spool.open(spool),
      log: pino({ level: 'silent' }),
      platform: 'polymarket',
      copier,
      clock: systemClock,
    }).open(LEASE, new Date());
    await catchUp(stores, 'polymarket', { trades: true, copier });
    expect(await differences(stores, 'polymarket')).toEqual([]);
    expect(await tapeDifferences(stores, 'polymarket')).toEqual([]);
  }
});
