import { z } from 'zod';
import { notionalUsd, parsePrice, parseSize } from '../../core/decimal.ts';
import { PlatformError } from '../../core/errors.ts';
import { ADDRESS } from '../../core/text.ts';
import { type AdapterDeps, type ReadContext, type PlatformUsers } from '../contract.ts';
import { firstPages } from '../list-pages.ts';
import { parseBody, parseRows } from '../parse-rows.ts';
import { type UserPosition, type UserPositions, type UserTrade } from '../user-contract.ts';
import { nextPlace, placeOf } from '../users/places.ts';
import { requireUsable, tradesAfter } from '../users/trade-pages.ts';
import { type PolymarketClient, createPolymarketClient } from './client.ts';
import { readPage } from './list-pages.ts';
import type { PolymarketUrl } from './manifest.ts';
import { LEAST_FILL, parseTrades, TRADE_FILTERS, tradeIds } from './trade.ts';
import { type PositionRow, type TradeRow, comboRow, positionRow, soldCombo } from './wire.ts';
import { profiles } from './gamma-wire.ts';

const TRADES = '/v2/trades';
const POSITIONS = '/v2/positions';
const COMBOS = '/v2/positions/combos';
const SEARCH = '/public-search';
const MAX_PAGES = 20;
/** Smaller positions are hidden by default; it is not documented whether a filter of 0 shows all. */
const LEAST_POSITION = parseSize('0.1');
/**
 * OPEN is everything still held, including redeemable positions. A page is continued after the last row's sort value: by size, because
 * the default, the value, moves with the price.
 */
const HELD = {
  status: 'OPEN',
  filter_type: 'TOKENS',
  filter_amount: 0,
  include_archived: true,
  sort_by: 'TOKENS',
} as const;
/** A position is not read without these; what is stated of it may be unknown. */
const POSITION_ROW = {
  platform: 'polymarket',
  kind: 'market',
  idKey: 'token_id',
  essential: ['token_id', 'condition_id', 'current_size'],
} as const;

/** Polymarket's users by wallet or by name. */
export function createPolymarketUsers(
  deps: Pick<AdapterDeps<PolymarketUrl>, 'http' | 'settings' | 'onStalePage'>,
): PlatformUsers {
  const client = createPolymarketClient(deps);
  return {
    platform: 'polymarket',
    smallestTrade: LEAST_FILL,
    async userTrades(user, page, context) {
      const wallet = await walletOf(client, user, context);
      return tradesAfter(wallet, (cursor) => readTrades(client, wallet, cursor, context), page);
    },
    async positions(user, context) {
      return readPositions(client, await walletOf(client, user, context), context);
    },
  };
}

/** The proxy wallet in lower case; a name must match a profile exactly. */
async function walletOf(client: PolymarketClient, user: string, context: ReadContext): Promise<string> {
  if (ADDRESS.test(user)) return user.toLowerCase();
  const name = user.replace(/^@/, '');
  const query = { q: name, search_profiles: true, limit_per_type: 50 };
  const reply = await client.get('gamma/other', SEARCH, query, context).catch(notOfTheUser(SEARCH));
  const found = parseBody('polymarket', profiles, reply, SEARCH).find((profile) => profile.name === name);
  if (found) return found.proxyWallet;
  throw new PlatformError('polymarket', 'not_found', { detail: `no profile is named ${JSON.stringify(name)}` });
}

/** A refusal of the wallet itself, such as that of a contract of the protocol. */
const ofUser = z.object({ parameter: z.literal('user') });

/** These reads are public: a rejection, or a 404, concerns the route and not the user. */
const notOfTheUser =
  (route: string) =>
  (error: unknown): never => {
    if (!(error instanceof PlatformError)) throw error;
    const { kind, status, detail } = error;
    if (status === 400 && ofUser.safeParse(error.body).success) {
      throw new PlatformError('polymarket', 'not_found', { status, detail, cause: error });
    }
    const blocked = kind === 'unauthorized' || kind === 'geo_blocked';
    if (!blocked && kind !== 'not_found') throw error;
    const options = { status, detail: `${route}: ${detail}`, cause: error };
    throw new PlatformError('polymarket', blocked ? 'geo_blocked' : 'unavailable', options);
  };

/** One page of a wallet's fills, as taker and as maker; start=1 includes those before the last three years. */
async function readTrades(client: PolymarketClient, wallet: string, place: string, context: ReadContext) {
  const { cursor, seen: before } = placeOf(place);
  const query = { user: wallet, ...TRADE_FILTERS, taker_only: false, start: 1 };
  const page = await readPage(client, TRADES, query, cursor, context).catch(notOfTheUser(TRADES));
  const { rows, next } = page;
  const combos = rows.filter((row) => comboRow.safeParse(row).success).length;
  const parsed = requireUsable('polymarket', TRADES, rows.length - combos, parseTrades(rows, context));
  const trades = parsed.map(({ row }) => row);
  const seen = new Map(before);
  const ids = tradeIds(trades, seen);
  // The next page may go on with the last transaction.
  const last = trades.at(-1)?.transactionHash;
  const carried = [...seen].filter(([text]) => last === undefined || text.startsWith(`${last}-`));
  return {
    trades: trades.map((row, index) => mapPolymarketUserTrade(row, ids[index] ?? '')),
    next: nextPlace(next === cursor ? '' : next, carried),
    visibility: 'public' as const,
    readAt: page.madeAt,
    isWhole: parsed.length === rows.length,
  };
}

/** Whether the wallet may hold combos, which are bets on several markets and not answered. */
async function holdsCombos(client: PolymarketClient, wallet: string, context: ReadContext): Promise<boolean> {
  try {
    const { rows, next } = await readPage(client, COMBOS, { user: wallet }, '', context);
    return next !== '' || rows.some((row) => !soldCombo.safeParse(row).success);
  } catch (error) {
    if (error instanceof PlatformError) return true;
    throw error;
  }
}

async function readPositions(client: PolymarketClient, wallet: string, context: ReadContext): Promise<UserPositions> {
  const held = new Map<string, UserPosition>();
  const query = { user: wallet, ...HELD };
  const read = (cursor: string) => readPage(client, POSITIONS, query, cursor, context);
  const [{ pages, end }, isPart] = await Promise.all([
    firstPages(MAX_PAGES, read).catch(notOfTheUser(POSITIONS)),
    holdsCombos(client, wallet, context),
  ]);
  let isAll = end !== 'more' && !isPart;
  for (const { rows } of pages) {
    const parsed = parseRows(positionRow, rows, POSITION_ROW, context);
    isAll &&= parsed.length === rows.length;
    for (const { row } of requireUsable('polymarket', POSITIONS, rows.length, parsed)) {
      if (row.current_size > 0n) held.set(row.token_id, mapPolymarketPosition(row));
    }
  }
  const readAt = pages.map((page) => page.madeAt).toSorted()[0] ?? '';
  const positions = [...held.values()];
  // If a smaller position is shown, none is hidden.
  const smallest = positions.some(({ size }) => size < LEAST_POSITION) ? null : LEAST_POSITION;
  return { user: wallet, visibility: 'public', readAt, positions, isAll, smallest };
}

/** One fill of the wallet in the row. */
export const mapPolymarketUserTrade = (row: TradeRow, tradeId: string): UserTrade => ({
  tradeId,
  ref: row.conditionId,
  ticker: row.slug,
  title: row.title,
  side: row.side === 'BUY' ? 'buy' : 'sell',
  outcome: { tokenId: row.tokenId, name: row.outcome },
  price: parsePrice(row.price),
  size: parseSize(row.size),
  executedAtUs: row.timestamp * 1_000_000,
  metadata: {
    maker_nickname: '',
    maker_action: '',
    token_id: row.tokenId,
    condition_id: row.conditionId,
    event_slug: row.eventSlug,
    transaction_hash: row.transactionHash,
  },
});

export const mapPolymarketPosition = (row: PositionRow): UserPosition => ({
  ref: row.condition_id,
  tokenId: row.token_id,
  title: row.title,
  label: row.outcome,
  size: row.current_size,
  redeemable: row.redeemable === true,
  // The price of a redeemable position is not documented as its payout: the stored market has that.
  winner: '',
  isUsd: true,
  stated: {
    averagePrice: row.avg_price,
    cost: row.entry_cost_usdc ?? (row.avg_price === null ? null : notionalUsd(row.avg_price, row.current_size)),
    currentPrice: row.current_price,
    value: row.current_value,
    pnl: row.unrealized_pnl,
  },
});
