import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { PLATFORMS, type Platform } from '../../src/core/model.ts';

export interface FillOptions {
  trades: number;
  markets: number;
  /** The trades' last instant, Unix ms; default the clock. */
  nowMs?: number;
  /** How far back they reach. */
  days?: number;
}

/** Rows of one INSERT: each is one block of the table and of every roll-up. */
const CHUNK_ROWS = 500_000;
const SNAPSHOT_HOURS = 49;

/** A number of [0, 1) that depends on `n` and a salt, nothing else. */
const uniform = (n: string, salt: string): string => `(sipHash64(${n}, '${salt}') % 1000003) / 1000003`;
const platformOf = (i: string): string => `multiIf(${i} % 10 < 5, 'kalshi', ${i} % 10 < 9, 'polymarket', 'limitless')`;
const refOf = (i: string): string =>
  `multiIf(${i} % 10 < 5, concat('KXBENCH-', toString(${i})), ${i} % 10 < 9, concat('0x', lower(hex(sipHash128(${i}, 'c'))), lower(hex(sipHash128(${i}, 'd')))), concat('bench-', toString(${i})))`;

/**
 * Grows a store by INSERT … SELECT: the same options give the same trades. Half the markets are Kalshi's, two fifths Polymarket's. Of
 * four, one lives for all the days, one ends after seven ninths of them, one after half, one begins at half. Trades crowd in few
 * markets; of 100 sizes 27 have 100 contracts and 3 have 1,000. Returns the markets' references by platform, most traded first.
 */
export async function fillStore(
  clickhouse: ClickHouse,
  { trades, markets, nowMs = Date.now(), days = 90 }: FillOptions,
): Promise<Record<Platform, string[]>> {
  const nowUs = Math.floor(nowMs / 1000) * 1_000_000;
  const spanUs = days * 86_400 * 1_000_000;
  const span = { now: nowUs, start: nowUs - spanUs, length: spanUs };
  await fillMarkets(clickhouse, markets, span);
  for (let from = 0; from < trades; from += CHUNK_ROWS) {
    const count = Math.min(CHUNK_ROWS, trades - from);
    await clickhouse.command(tradesSql(span), { from, count, total: trades, markets });
  }
  await describeIngestion(clickhouse, span);
  const rows = await clickhouse.sql<{ platform: Platform; refs: string[] }>(
    `SELECT ${platformOf('number')} AS platform, groupArray(${refOf('number')}) AS refs
     FROM (SELECT number FROM numbers({markets:UInt64}) ORDER BY number) GROUP BY platform`,
    { markets },
  );
  const refs = new Map(rows.map((row) => [row.platform, row.refs]));
  return Object.fromEntries(PLATFORMS.map((platform) => [platform, refs.get(platform) ?? []])) as Record<
    Platform,
    string[]
  >;
}

interface Span {
  now: number;
  start: number;
  length: number;
}

const at = (us: string): string => `fromUnixTimestamp64Micro(toInt64(${us}), 'UTC')`;

/** Market `i` and how it stands: class 0 lives all the time, 1 and 2 are settled, 3 is young. */
const marketColumns = (span: Span): string => `
  number AS i, ${platformOf('i')} AS platform, ${refOf('i')} AS ref, i % 4 AS class,
  toDateTime64(${at(`${span.start} + if(class = 3, intDiv(${span.length}, 2), 0)`)}, 3, 'UTC') AS born,
  toDateTime64(${at(`multiIf(class = 1, ${span.start} + intDiv(${span.length} * 7, 9), class = 2, ${span.start} + intDiv(${span.length}, 2), ${span.now} + 86400000000 * (1 + i % 60))`)}, 3, 'UTC') AS ends,
  class IN (0, 3) AS is_open, ['sports', 'crypto', 'politics', 'economy', 'finance', 'geopolitics', 'culture', 'weather-futures'] AS slugs,
  slugs[1 + sipHash64(i, 'g') % 8] AS category_slug, initcap(replaceAll(category_slug, '-', ' ')) AS category,
  toDecimal64(0.05 + 0.9 * ${uniform('i', 'p')}, 3) AS mid`;

async function fillMarkets(clickhouse: ClickHouse, markets: number, span: Span): Promise<void> {
  const world = `(SELECT ${marketColumns(span)} FROM numbers({markets:UInt64}))`;
  const now = `toDateTime64(${at(String(span.now))}, 3, 'UTC')`;
  const outcomes = `if(platform = 'polymarket', ['up', 'down'], ['yes', 'no'])`;
  const volume = `toDecimal64(1000000 / (1 + i), 6)`;
  await clickhouse.command(
    `INSERT INTO markets (platform, ref, platform_id, slug, title, market_type, outcome_ids, outcome_names, token_ids, event_id, event_name, description, category, category_slug, source_url, image_url, created_at, trading_start_at, trading_end_at, resolution_date, metadata, first_seen_at, version)
     SELECT platform, ref, if(platform = 'polymarket', toString(500000 + i), ref), concat('bench-market-', toString(i)), concat('Will number ', toString(i), ' come out on top?'), 'binary',
       ${outcomes}, ${outcomes}, if(platform = 'kalshi', ['', ''], [toString(i * 2 + 10000000), toString(i * 2 + 10000001)]), concat('E', toString(intDiv(i, 5))), concat('Event ', toString(intDiv(i, 5))),
       'Resolves to the first outcome if it happens.', category, category_slug, 'https://example.com/market', 'https://example.com/market.png', born, born, ends, ends,
       if(platform = 'kalshi', '{"volume_basis":"contracts","fee":{"type":"quadratic","multiplier":1}}', '{"volume_basis":"usd","fee":{"enabled":true}}'), born, ${now}
     FROM ${world}`,
    { markets },
  );
  await clickhouse.command(
    `INSERT INTO market_state (platform, ref, status, category, category_slug, event_id, resolved_at, prices, bids, asks, volume_24h, volume_7d, volume_total, liquidity, open_interest, price_change_24h, price_change_7d, trading_start_at, trading_end_at, created_at, first_seen_at, metadata, synced_at)
     SELECT platform, ref, if(is_open, 'open', 'settled'), category, category_slug, concat('E', toString(intDiv(i, 5))), if(is_open, NULL, ends),
       if(is_open, [mid, 1 - mid], [1, 0]), if(is_open, [mid - toDecimal64(0.01, 3), 1 - mid - toDecimal64(0.01, 3)], [NULL, NULL]), if(is_open, [mid + toDecimal64(0.01, 3), 1 - mid + toDecimal64(0.01, 3)], [NULL, NULL]),
       ${volume} / 30, if(platform = 'limitless', NULL, ${volume} / 5), ${volume}, toDecimal64(5000 * ${uniform('i', 'l')}, 6), if(platform = 'limitless', NULL, ${volume} / 2),
       toDecimal64(0.04 * ${uniform('i', 'x')} - 0.02, 3), if(platform = 'polymarket', toDecimal64(0.1 * ${uniform('i', 'y')} - 0.05, 3), NULL),
       born, ends, born, born, '{}', ${now}
     FROM ${world}`,
    { markets },
  );
  await clickhouse.command(
    `INSERT INTO market_snapshots (platform, ref, at, status, price, bid, ask, volume_24h, volume_total, open_interest, liquidity, trading_end_at)
     SELECT platform, ref, ${now} - toIntervalHour(hour), 'open', mid, mid - toDecimal64(0.01, 3), mid + toDecimal64(0.01, 3), ${volume} / 30, ${volume} - hour, ${volume} / 2, 1000, ends
     FROM ${world} ARRAY JOIN range(${SNAPSHOT_HOURS}) AS hour WHERE is_open`,
    { markets },
  );
  await clickhouse.command(
    `INSERT INTO events (platform, event_id, title, category, category_slug, market_ids, version)
     SELECT platform, concat('E', toString(intDiv(i, 5))) AS event, concat('Event ', toString(intDiv(i, 5))), any(category), any(category_slug), groupArray(if(platform = 'polymarket', toString(500000 + i), ref)), ${now}
     FROM ${world} GROUP BY platform, intDiv(i, 5)`,
    { markets },
  );
  await clickhouse.command(`INSERT INTO market_refs (platform, ref) SELECT platform, ref FROM ${world}`, { markets });
  await clickhouse.command(
    `INSERT INTO traders (platform, address, name, pseudonym, profile_image, seen_at)
     SELECT if(number % 5 = 0, 'limitless', 'polymarket'), concat('0x', lower(hex(sipHash128(number, 't'))), '00000000'), concat('Trader ', toString(number)), concat('trader-', toString(number)), '', ${now}
     FROM numbers(200000)`,
  );
}

/** Trade n: its time grows with n, everything else is a hash of n. A trade of a market that does not live then goes to a neighbour that does. */
const tradesSql = (span: Span): string => `
INSERT INTO trades (platform, ref, executed_at, trade_order, id_form, id_text, tx_text, outcome, outcome_index, series, side, price, size, quote_usd, trader_text, is_block)
SELECT platform, ref, ${at('us')} AS executed_at,
  multiIf(id_form = 'tx', bitOr(bitShiftLeft(reinterpretAsUInt64(reverse(unhex(substring(hash, 1, 6)))), 40), n % 1000000), reinterpretAsUInt64(reverse(unhex(substring(hash, 1, 16))))) AS trade_order,
  id_form, multiIf(id_form = 'tx', concat(toString(10000000 + i % 80000000), '-', substring(hash, 9, 8)), id_form = 'uuid', concat(substring(hash, 1, 8), '-', substring(hash, 9, 4), '-', substring(hash, 13, 4), '-', substring(hash, 17, 4), '-', substring(hash, 21, 12)), hash) AS id_text,
  if(platform = 'kalshi', '', concat('0x', hash, lower(hex(sipHash128(n, 'x'))))) AS tx_text,
  if(platform = 'polymarket', ['up', 'down'], ['yes', 'no'])[1 + outcome_index] AS outcome, outcome_index, 0 AS series,
  if(platform = 'kalshi' OR sipHash64(n, 's') % 3 > 0, 'buy', 'sell') AS side,
  if(outcome_index = 0, first_price, 1 - first_price) AS price,
  toDecimal64(greatest(1, toInt64(round(exp(3.5 + 1.8 * sqrt(-2 * ln(1 - ${uniform('n', 'a')})) * cos(6.283185307 * ${uniform('n', 'b')})) * if(platform = 'kalshi', 1, 100)))), 6) / if(platform = 'kalshi', 1, 100) AS size,
  NULL AS quote_usd,
  if(platform = 'kalshi', '', concat('0x', lower(hex(sipHash128(toUInt64(intDiv(200000 * pow(${uniform('n', 'w')}, 2), 1)), 't'))), '00000000')) AS trader_text,
  platform = 'kalshi' AND sipHash64(n, 'k') % 2000 = 0 AS is_block
FROM (
  SELECT n, us, i, ${platformOf('i')} AS platform, ${refOf('i')} AS ref, lower(hex(sipHash128(n, 'h'))) AS hash,
    multiIf(platform = 'kalshi', 'uuid', platform = 'polymarket', 'tx', 'hex') AS id_form, toUInt8(sipHash64(n, 'o') % 2) AS outcome_index,
    toDecimal64(least(99, greatest(1, toInt64(round(5 + 90 * ${uniform('i', 'p')} + 8 * sin(us / 86400000000 + i) + 2 * ${uniform('n', 'q')})))), 10) / 100 AS first_price
  FROM (
    SELECT number + {from:UInt64} AS n, ${span.start} + toUInt64(floor((n + ${uniform('n', 'u')}) / {total:UInt64} * ${span.length})) AS us,
      toUInt64(floor({markets:UInt64} * pow(${uniform('n', 'm')}, 3))) AS drawn, drawn % 4 AS class,
      (class = 1 AND us > ${span.start} + intDiv(${span.length} * 7, 9)) OR (class = 2 AND us > ${span.start} + intDiv(${span.length}, 2)) OR (class = 3 AND us < ${span.start} + intDiv(${span.length}, 2)) AS is_dead,
      if(is_dead, toUInt64(drawn - class), drawn) AS i
    FROM numbers({count:UInt64})
  )
)`;

/** The marks that ingestion would have left: everything is complete up to now. */
async function describeIngestion(clickhouse: ClickHouse, span: Span): Promise<void> {
  await clickhouse.command(
    `INSERT INTO trade_coverage (platform, ref, complete_from, complete_to, marker)
     SELECT arrayJoin({platforms:Array(String)}), '', ${at(String(span.start))}, ${at(String(span.now))}, ''`,
    { platforms: [...PLATFORMS] },
  );
  await clickhouse.command(
    `INSERT INTO ingestion_runs (platform, job, started_at, finished_at, ok, fresh_to, rows, bad_rows, note, worker)
     SELECT arrayJoin({platforms:Array(String)}), 'markets', ${at(String(span.now))}, ${at(String(span.now))}, true, ${at(String(span.now))}, 0, 0, '', 'fill'`,
    { platforms: [...PLATFORMS] },
  );
}
