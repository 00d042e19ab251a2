import { z } from 'zod';
import type { Size } from '../../../core/decimal.ts';
import { PlatformError } from '../../../core/errors.ts';
import { balanceOf } from '../../balance.ts';
import type { StoredMarket } from '../../contract.ts';
import type { Balance, Balances, OrderAccess } from '../../order-contract.ts';
import { parseBody, parseRows, wireSize, wireUsd } from '../../parse-rows.ts';
import type { KalshiAccount } from '../signed-client.ts';
import type { KalshiFinder } from './finder.ts';
import type { KalshiOrder } from './rows.ts';

const BALANCE = '/portfolio/balance';
const POSITIONS = '/portfolio/positions';
const SHARD_ROW = { platform: 'kalshi', kind: 'order', idKey: 'exchange_index' } as const;
const POSITION_ROW = { platform: 'kalshi', kind: 'market', idKey: 'ticker' } as const;

/** Cash that no open order needs; `balance_dollars` is absent in older bodies, which have whole cents. */
const Cash = z.object({
  balance: z.number().int().nullish(),
  balance_dollars: wireUsd.nullish(),
  balance_breakdown: z.array(z.unknown()).nullish(),
});
const Shard = z.object({ exchange_index: z.number().int().min(0), balance: wireUsd });
/** The net position in one market; a negative one is in No. */
const Position = z.object({ ticker: z.string().min(1), position_fp: wireSize });

/** Kalshi reports the cash that can be spent, not what open orders reserve of it. */
const spendable = (asset: string, available: bigint | null): Balance => ({
  asset,
  total: null,
  available,
  reserved: null,
});

/** Cash of the account: `USD` is all of it, `USD/2` the part on exchange shard 2. With a market, also its outcomes. */
export async function readBalances(
  account: KalshiAccount,
  market: StoredMarket | null,
  access: OrderAccess<'kalshi'>,
  { resting }: Pick<KalshiFinder, 'resting'>,
): Promise<Balances> {
  const [cash, positions, working] = await Promise.all([
    account.get(BALANCE, {}),
    market && account.page(POSITIONS, 'market_positions', { ticker: market.ref }),
    market && resting(market.ref, access).then((rows) => rows && besidePosition(rows, account)),
  ]);
  const holdings = market ? holdingsOf(market, positions?.rows ?? [], working, access) : [];
  const { balance, balance_dollars: dollars, balance_breakdown: breakdown } = parseBody('kalshi', Cash, cash, BALANCE);
  const cents = balance == null ? null : BigInt(balance) * 10_000n;
  const shards = parseRows(Shard, breakdown ?? [], SHARD_ROW, access);
  return {
    balances: [
      spendable('USD', dollars ?? cents),
      ...shards.map(({ row }) => spendable(`USD/${row.exchange_index}`, row.balance)),
      ...holdings,
    ],
    allowances: [],
  };
}

/**
 * The orders of the account whose position is read: the main one, or the subaccount that the key is locked to. Only a locked key may not
 * name the main account.
 */
async function besidePosition(rows: readonly KalshiOrder[], account: KalshiAccount): Promise<readonly KalshiOrder[]> {
  const main = rows.filter(({ subaccount_number: of }) => !of);
  if (main.length > 0 || rows.length === 0) return main;
  const mayNameMain = await account.get(BALANCE, { subaccount: 0 }).then(
    () => true,
    (error: unknown) => {
      if (error instanceof PlatformError && error.status === 403) return false;
      throw error;
    },
  );
  return mayNameMain ? main : rows;
}

/**
 * What the account holds of each outcome of the market. Kalshi has one net position, so one of them is 0. Open orders for the other
 * outcome reserve it: they would close it. `working` null: not all of them could be read.
 */
function holdingsOf(
  market: StoredMarket,
  rows: readonly unknown[],
  working: readonly KalshiOrder[] | null,
  access: OrderAccess<'kalshi'>,
): Balance[] {
  const positions = parseRows(Position, rows, POSITION_ROW, access);
  const ours = positions.find(({ row }) => row.ticker === market.ref);
  // An unreadable row may be the position.
  const net = ours?.row.position_fp ?? (positions.length === rows.length ? 0n : null);
  return market.outcomes.map(({ id }, index) => {
    const held = net === null || index === 0 ? net : -net;
    return balanceOf(id, held === null || held > 0n ? held : 0n, working && closing(working, index));
  });
}

/** Contracts that open orders for the other outcome still want. */
function closing(working: readonly KalshiOrder[], outcomeIndex: number): Size {
  const others = working.filter(({ outcome_side: outcome }) => (outcome === 'yes') !== (outcomeIndex === 0));
  return others.reduce((sum, { remaining_count_fp: left }) => sum + left, 0n);
}
