import { z } from 'zod';
import { balanceOf } from '../../balance.ts';
import type { StoredMarket } from '../../contract.ts';
import type { Allowance, Balance, Balances } from '../../order-contract.ts';
import { parseBody, parseRows, wireBaseUnits } from '../../parse-rows.ts';
import type { AccountClient, LimitlessAccess } from '../signed-client.ts';
import { LimitlessPortfolio } from './rows.ts';

const ROW = { platform: 'limitless', kind: 'market', idKey: 'slug' } as const;
/** Contracts that move collateral, by the platform's own word for them. */
const VENUES = [
  ['clob', 'exchange'],
  ['negrisk', 'NegRisk exchange'],
] as const;
/** An allowance of this much or more counts as unlimited. */
const ENDLESS = 1n << 128n;

const Reserved = z.object({ orders: z.object({ totalCollateralLocked: wireBaseUnits }) });
const Slug = z.object({ market: z.object({ slug: z.string() }) });
const Held = z.object({
  market: z.object({ slug: z.string(), yesPositionId: z.string(), noPositionId: z.string() }),
  tokensBalance: z.object({ yes: wireBaseUnits, no: wireBaseUnits }),
  orders: z.object({ liveOrders: z.array(z.unknown()) }),
});
const LiveSale = z.object({ token: z.string(), side: z.enum(['BUY', 'SELL']), remainingSize: wireBaseUnits });
const Allowed = z.object({ allowance: wireBaseUnits, spender: z.string().min(1) });

/**
 * Limitless reports what open purchases reserve, the outcome tokens of each market, and what its exchanges may spend. The wallet's
 * collateral itself is on the chain only: null.
 */
export async function readBalances(
  account: AccountClient,
  market: StoredMarket | null,
  access: LimitlessAccess,
): Promise<Balances> {
  const read = { circuit: 'account', method: 'GET', path: '/portfolio/positions', retry: true } as const;
  const { clob, group } = parseBody(
    'limitless',
    LimitlessPortfolio,
    await account(read, access),
    'portfolio/positions',
  );
  const rows = [...clob, ...group];
  return {
    balances: [
      { asset: 'USDC', total: null, available: null, reserved: reservedBy(rows, access) },
      ...(market ? holdings(rows, market) : []),
    ],
    allowances: await readAllowances(account, access),
  };
}

/** Collateral behind the open purchases of every market; null if a market's part is unreadable. */
function reservedBy(rows: readonly unknown[], access: LimitlessAccess): bigint | null {
  const parts = parseRows(Reserved, rows, ROW, access);
  if (parts.length < rows.length) return null;
  return parts.reduce((sum, { row }) => sum + row.orders.totalCollateralLocked, 0n);
}

/** Outcome tokens of the wallet; 0 in a market that the portfolio does not list, null where its row is unreadable. */
function holdings(rows: readonly unknown[], market: StoredMarket): Balance[] {
  const raw = rows.find((row) => Slug.safeParse(row).data?.market.slug === market.ref);
  const held = Held.safeParse(raw).data;
  return market.outcomes.map(({ id }, index) => {
    if (raw === undefined) return balanceOf(id, 0n, 0n);
    if (!held) return balanceOf(id, null, null);
    const [total, token] =
      index === 0
        ? [held.tokensBalance.yes, held.market.yesPositionId]
        : [held.tokensBalance.no, held.market.noPositionId];
    return balanceOf(id, total, soldOf(held, token));
  });
}

/** What open sales of a token still offer; null if an order is unreadable. */
function soldOf({ orders: { liveOrders } }: z.output<typeof Held>, token: string): bigint | null {
  let sum = 0n;
  for (const raw of liveOrders) {
    const order = LiveSale.safeParse(raw).data;
    if (!order) return null;
    if (order.side === 'SELL' && order.token === token) sum += order.remainingSize;
  }
  return sum;
}

const readAllowances = (account: AccountClient, access: LimitlessAccess): Promise<Allowance[]> =>
  Promise.all(
    VENUES.map(async ([type, name]) => {
      const path = `/portfolio/trading/allowance?type=${type}`;
      const reply = await account({ circuit: 'account', method: 'GET', path, retry: true }, access);
      const { allowance, spender } = parseBody('limitless', Allowed, reply, 'portfolio/trading/allowance');
      return { asset: 'USDC', spender, name, amount: allowance >= ENDLESS ? null : allowance };
    }),
  );
