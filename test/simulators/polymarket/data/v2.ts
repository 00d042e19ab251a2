import { randomUUID } from 'node:crypto';
import { json, scaledInteger, type SimReply } from '../../lib/index.ts';
import { holderRows } from './rows.ts';
import { walletHistory } from './v1.ts';
import { feed, type FeedFilter, type FeedRow } from './feed.ts';
import { isoSeconds } from '../gamma/rows.ts';
import { walletValue } from './positions.ts';
import { positionBinds, positionsV2 } from './positions-v2.ts';
import { pointsV2 } from './price-points.ts';
import { resolutions } from './resolutions.ts';
import { usdNumber } from '../world/units.ts';
import { Asked, envelope, V2Error } from './v2-query.ts';
import { comboRowV2, historyRowV2, snake, tradeRowV2 } from './v2-rows.ts';
import type { PolymarketWorld } from '../world/world.ts';

/** Data API v2: snake_case in an envelope, cursors only. `path` is what follows /v2. */
export function dataV2(world: PolymarketWorld, path: string, query: URLSearchParams): SimReply {
  const asked = new Asked(world, query);
  const body = answer(world, path, asked);
  if (body === null) throw new V2Error('route not found', undefined, 404, 'not_found');
  return json(200, body, { 'x-trace-id': randomUUID() });
}

function answer(world: PolymarketWorld, path: string, asked: Asked): unknown {
  switch (path) {
    case '/trades':
      return trades(world, asked);
    case '/activity': {
      const wallet = asked.user();
      const filter = {
        types: asked.list('type', 20),
        markets: asked.markets(),
        from: asked.whole('start', 0),
        to: asked.whole('end', 99_999_999_999),
      };
      const rows = wallet ? walletHistory(world, wallet, filter).map((item) => historyRowV2(world, item)) : [];
      if (asked.text('sort_direction') === 'ASC') rows.reverse();
      return asked.page('activity', rows, { fallback: 100, most: 1000 });
    }
    case '/positions':
      return asked.page('positions', positionsV2(world, asked), { fallback: 100, most: 1000 }, positionBinds(asked));
    case '/positions/combos': {
      const wallet = asked.user();
      const rows = world.combos.filter(({ of }) => of === wallet).map((combo, i) => comboRowV2(world, combo, i));
      return asked.page('combo_positions', rows, { fallback: 100, most: 1000 });
    }
    case '/prices-history':
      return asked.page('prices_history', pointsV2(world, asked), { fallback: 100, most: 10_000 });
    case '/resolutions':
      return { data: resolutions(world, asked) };
    case '/holders': {
      const rows = (asked.markets() ?? []).flatMap((market) => holderRows(world, market, asked.whole('limit', 20), 1));
      return asked.page(
        'holders',
        rows.map((row) => ({ token_id: row.token, holders: row.holders.map(snake) })),
        { fallback: 20, most: 20 },
      );
    }
    case '/value': {
      const wallet = asked.user();
      return { data: { proxy_wallet: asked.address(), value: wallet ? usdNumber(walletValue(world, wallet)) : 0 } };
    }
    case '/oi':
      return { data: openInterest(world, asked) };
    case '/live-volume': {
      const markets = asked.markets() ?? [];
      const total = markets.reduce((sum, market) => sum + market.volume, 0n);
      const conditions = markets.map((market) => ({
        condition_id: market.conditionId,
        taker_volume: usdNumber(market.volume),
      }));
      return { data: { taker_volume_total: usdNumber(total), conditions } };
    }
    case '/status':
      return { data: status(world) };
    default:
      return null;
  }
}

/** One row per market that the service knows; without a condition the sum of them all. */
function openInterest(world: PolymarketWorld, asked: Asked): unknown[] {
  const markets = asked.markets();
  if (markets === null) {
    const all = world.markets.reduce((sum, market) => sum + market.sets, 0n);
    return [{ condition_id: 'GLOBAL', value: usdNumber(all) }];
  }
  return markets
    .filter((market) => !market.archived && !market.legacy)
    .map((market) => ({ condition_id: market.conditionId, value: usdNumber(market.sets) }));
}

const DUST = scaledInteger('0.01', 6) ?? 0n;
const THREE_YEARS_SEC = 3 * 365 * 86_400;

/**
 * Ordered by time and sequence, newest first. A cursor goes on below the last trade of its page and holds no filter: one that is
 * not sent again is no longer applied. Fills of less than 0.01 are never shown.
 */
function trades(world: PolymarketWorld, asked: Asked) {
  const place = asked.place('trades');
  const limit = place?.limit ?? asked.limit(100, 1000);
  const type = asked.text('filter_type') ?? 'TOKENS';
  if (type !== 'TOKENS' && type !== 'CASH') throw new V2Error('filter_type must be TOKENS or CASH', 'filter_type');
  const amount = scaledInteger(asked.text('filter_amount') ?? '0.01', 6);
  if (amount === null) throw new V2Error('filter_amount must be a decimal', 'filter_amount');
  const side = asked.text('side');
  if (side !== null && side !== 'BUY' && side !== 'SELL') throw new V2Error('side must be BUY or SELL', 'side');
  const least = { of: type, amount: amount < DUST ? DUST : amount } as const;
  const filter: FeedFilter = { takerOnly: asked.text('taker_only') !== 'false', least };
  if (side !== null) filter.side = side;
  const markets = asked.markets();
  if (markets) filter.markets = markets;
  if (asked.text('user') !== null) {
    const wallet = asked.user();
    if (!wallet) return envelope([], limit, null);
    filter.wallet = wallet;
    filter.combos = !markets;
    filter.from = asked.whole('start', 0) || Math.floor(world.now() / 1000) - THREE_YEARS_SEC;
    if (asked.whole('end', 0) > 0) filter.to = asked.whole('end', 0);
  } else if (markets) {
    filter.from = Math.floor(world.now() / 1000) - THREE_YEARS_SEC;
  } else {
    // The bare feed reaches back through the previous calendar month.
    const now = new Date(world.now());
    filter.combos = true;
    filter.from = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1) / 1000;
  }
  if (place) {
    world.makeTrades(world.drift.trades);
    // `at` counts rows of one trade in its last two digits.
    filter.below = Math.floor(place.at / 100) + 1;
  }
  const page: FeedRow[] = [];
  let next: string | null = null;
  let within = 0;
  let previous = -1;
  for (const row of feed(world, filter)) {
    within = row.index === previous ? within + 1 : 0;
    previous = row.index;
    const at = row.index * 100 + within;
    if (place && row.index === Math.floor(place.at / 100) && at < place.at) continue;
    if (page.length === limit) {
      next = asked.cursor('trades', limit, at);
      break;
    }
    page.push(row);
  }
  return envelope(
    page.map((row) => tradeRowV2(world, row)),
    limit,
    next,
  );
}

/** How far the indexer is behind. */
function status(world: PolymarketWorld): unknown {
  const lag = Math.round(world.indexer.delayMs / 1000);
  const block = 93_784_295;
  return {
    computed_at: isoSeconds(world.now()),
    age_seconds: 0,
    serving: { lag_seconds: lag, worst: 'activity_feed', mechanisms: [{ name: 'activity_feed', age_seconds: lag }] },
    ingestion: {
      cursors: 148,
      network: 'polygon',
      chain_id: 137,
      max_synced_block: block,
      min_synced_block: block - 1,
    },
  };
}
