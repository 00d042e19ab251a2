import { Watermarks } from '../../ingest/watermarks.ts';
import { TradeCopier } from '../../src/present/trades/copier.ts';
import { Spool } from '../../ingest/spool/spool.ts';
import { systemClock } from '../../src/core/time.ts';
import { loadConfig } from '../../src/core/config.ts';
import { MarketWriter } from '../../src/markets/writer.ts';
import { Projector } from '../../src/present/projector.ts';
import { connect } from '../../src/stores/clickhouse/client.ts';
import { openPostgres } from '../../src/stores/postgres/client.ts';
import { LEASE, market, quotes, trade } from './market-store.ts';
import { silent } from './silent-log.ts';
import { tradeWriter } from './trade-writer.ts';

/** Writes changes and trades of twelve markets without a pause, copies them to PostgreSQL, and drops some, until it is killed. */
const [clickhouseUrl = '', databaseUrl = '', spool = '', run = ''] = process.argv.slice(2);
const clickhouse = connect(clickhouseUrl);
const postgres = await openPostgres(loadConfig({ NODE_ENV: 'test', DATABASE_URL: databaseUrl }), silent);
const present = new Projector({ clickhouse, postgres, log: silent, clock: systemClock });
const markets = new MarketWriter(clickhouse, systemClock, { present });
const copier = new TradeCopier({ clickhouse, postgres, log: silent, clock: systemClock }, 'polymarket');
const trades = tradeWriter({
  clickhouse,
  spool: await Spool.open(spool),
  log: silent,
  platform: 'polymarket',
  copier,
  clock: systemClock,
});
const watermarks = new Watermarks(clickhouse, 'polymarket', systemClock, copier);
await trades.open(LEASE, new Date());
await copier.catchUp(Date.now());
for (let round = 0; ; round += 1) {
  const records = Array.from({ length: 12 }, (_, n) =>
    market({
      platform: 'polymarket',
      ref: `0x${String(n).padStart(64, '0')}`,
      platformId: String(1000 + n),
      slug: `slug-${n}-${round % 3}`,
      title: `Round ${round} of run ${run}`,
      outcomes: ['Yes', 'No'].map((name) => ({ id: name.toLowerCase(), name, tokenId: `${name}-${n}-${round % 2}` })),
      state: { quotes: quotes(`0.${10 + (round % 80)}`) },
    }),
  );
  await markets.write('polymarket', records);
  const address = `0x${run.padStart(2, '0')}${String(round).padStart(38, '0')}`;
  const trader = { address, name: '', pseudonym: '', profileImage: '' };
  const made = records.slice(0, 4).map((of) => {
    const tradeId = `${run}-${round}-${of.info.platformId}`;
    return trade({ of, atMs: Date.now(), price: '0.5', size: '1', trader, tradeId });
  });
  await trades.write(made, LEASE);
  await watermarks.move('', LEASE, (span) => ({ fromUs: span?.fromUs ?? 0, toUs: Date.now() * 1000, marker: '' }));
  await markets.onTradesStored('polymarket', new Set(made.map(({ ref }) => ref)));
  if (round % 3 === 2) await markets.drop('polymarket', `0x${String(round % 12).padStart(64, '0')}`);
  if (round === 0) process.stdout.write('writing\n');
}
