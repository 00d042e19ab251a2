import { ONE_PRICE, parsePrice, parseSize } from '../../decimal.ts';
import { PlatformError } from '../../errors.ts';
import type { AdapterDeps, ReadContext } from '../platform.ts';
import { parseBody, parseRows } from '../rows.ts';
import {
  type PlatformSocial,
  type UserPosition,
  type UserPositions,
  type UserTrade,
  requireUsable,
  tradesAfter,
} from '../social.ts';
import { type PolymarketClient, createPolymarketClient } from './client.ts';
import { tradeIds } from './trade.ts';
import { type PositionRow, type TradeRow, dataPage, positionRow, profiles, tradeV2 } from './wire.ts';

const ADDRESS = /^0x[0-9a-f]{40}$/i;
const TRADES = '/v2/trades';
const POSITIONS = '/v2/positions';
const SEARCH = '/public-search';
const TRADES_PAGE = 1000;
const POSITIONS_PAGE = 500;
const MAX_PAGES = 40;
const TRADE_ROW = { platform: 'polymarket', kind: 'trade', idKey: 'transaction_hash' } as const;
const POSITION_ROW = { platform: 'polymarket', kind: 'market', idKey: 'token_id' } as const;

/** Polymarket's users by wallet or by name. */
export function createPolymarketSocial(deps: Pick<AdapterDeps, 'http' | 'urls'>): PlatformSocial {
  const client = createPolymarketClient(deps);
  return {
    platform: 'polymarket',
    async userTrades(user, page, context) {
      const wallet = await walletOf(client, user, context);
      return tradesAfter(wallet, (cursor) => readTrades(client, wallet, cursor, context), page);
    },
    async positions(user, context) {
      return readPositions(client, await walletOf(client, user, context), context);
    },
  };
}

/** The proxy wallet in lower case; a name must be exactly that of a profile. */
async function walletOf(client: PolymarketClient, user: string, context: ReadContext): Promise<string> {
  if (ADDRESS.test(user)) return user.toLowerCase();
  const name = user.replace(/^@/, '');
  const query = { q: name, search_profiles: true, limit_per_type: 50 };
  const reply = await client.get('gamma/other', SEARCH, query, context);
  const found = parseBody('polymarket', profiles, reply, SEARCH).find((profile) => profile.name === name);
  if (found) return found.proxyWallet;
  throw new PlatformError('polymarket', 'not_found', { detail: `no profile is named ${JSON.stringify(name)}` });
}

/** One page of a wallet's fills, as taker and as maker; start=1 asks for more than the last three years. */
async function readTrades(client: PolymarketClient, wallet: string, cursor: string, context: ReadContext) {
  const query = { user: wallet, taker_only: false, start: 1, limit: TRADES_PAGE, cursor: cursor || undefined };
  const reply = await client.get('data-v2/trades', TRADES, query, context);
  const { rows, next } = parseBody('polymarket', dataPage, reply, TRADES);
  const parsed = requireUsable('polymarket', TRADES, rows.length, parseRows(tradeV2, rows, TRADE_ROW, context));
  const trades = parsed.map(({ row }) => row);
  const ids = tradeIds(trades);
  return {
    trades: trades.map((row, index) => mapPolymarketUserTrade(row, ids[index] ?? '')),
    next,
    visibility: 'public' as const,
    readAt: reply.receivedAt,
  };
}

/** Redeemable positions are listed under OPEN too, or only under their own status: either way once here. */
async function readPositions(client: PolymarketClient, wallet: string, context: ReadContext): Promise<UserPositions> {
  const held = new Map<string, UserPosition>();
  let readAt = '';
  let isAll = true;
  for (const status of ['OPEN', 'REDEEMABLE']) {
    let cursor = '';
    let ended = false;
    for (let page = 0; page < MAX_PAGES && !ended; page += 1) {
      const query = { user: wallet, status, limit: POSITIONS_PAGE, cursor: cursor || undefined };
      const reply = await client.get('data-v2/other', POSITIONS, query, context);
      const { rows, next } = parseBody('polymarket', dataPage, reply, POSITIONS);
      readAt ||= reply.receivedAt;
      const parsed = parseRows(positionRow, rows, POSITION_ROW, context);
      for (const { row } of requireUsable('polymarket', POSITIONS, rows.length, parsed)) {
        if (row.current_size > 0n) held.set(row.token_id, mapPolymarketPosition(row));
      }
      ended = next === '' || next === cursor;
      cursor = next;
    }
    isAll &&= ended;
  }
  return { user: wallet, visibility: 'public', readAt, positions: [...held.values()], isAll };
}

/** One fill of the wallet that the row names. */
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
  redeemable: row.redeemable,
  won: row.redeemable && row.current_price === ONE_PRICE,
});
