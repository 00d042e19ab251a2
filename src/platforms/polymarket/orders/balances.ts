import { ONE_PRICE } from '../../../core/decimal.ts';
import { balanceOf } from '../../balance.ts';
import type { Allowance, Balances, OrderAccess } from '../../order-contract.ts';
import type { StoredMarket } from '../../contract.ts';
import type { PolymarketAccount } from '../signed-client.ts';
import { sharesAsset, spenderName } from './exchanges.ts';
import { readFunds, type Asset, type Funds } from './funds.ts';
import { readOpenOrders } from './reads.ts';
import type { ClobOrder } from './rows.ts';

/** Wallets give contracts this much or more when they set no limit. */
const NO_LIMIT = 2n ** 128n;

/** pUSD of the wallet, and its shares of a market's outcomes, as the CLOB reads them now. Open orders say what of it is reserved. */
export async function readBalances(
  account: PolymarketAccount,
  market: StoredMarket | null,
  access: OrderAccess<'polymarket'>,
): Promise<Balances> {
  const outcomes = (market?.outcomes ?? []).filter(({ tokenId }) => tokenId !== '');
  const assets: { name: string; asset: Asset }[] = [
    { name: 'pUSD', asset: { asset_type: 'COLLATERAL' } },
    ...outcomes.map(({ id, tokenId }) => ({ name: id, asset: sharesAsset(tokenId) })),
  ];
  const [orders, ...funds] = await Promise.all([
    workingOrders(account, access),
    ...assets.map(({ asset }) => readFunds(account, asset, access.signal)),
  ]);
  return {
    balances: assets.map(({ name, asset }, at) =>
      balanceOf(name, funds[at]?.balance ?? null, orders && reservedBy(orders, asset)),
    ),
    allowances: assets.flatMap(({ name }, at) => allowancesOf(name, funds[at])),
  };
}

/** Open orders of the account; null if not all of them could be read. */
async function workingOrders(
  account: PolymarketAccount,
  access: OrderAccess<'polymarket'>,
): Promise<ClobOrder[] | null> {
  const { seen, whole } = await readOpenOrders(account, null, access);
  return whole ? seen.flatMap(({ row }) => row ?? []) : null;
}

/** Purchases reserve pUSD, without fees; sales reserve their shares. */
function reservedBy(orders: readonly ClobOrder[], asset: Asset): bigint {
  let sum = 0n;
  for (const { side, asset_id: token, price, original_size: size, size_matched: matched, order_type: type } of orders) {
    const left = size > matched ? size - matched : 0n;
    // A purchase that fills at once is sized in pUSD.
    const perUnit = type === 'FAK' || type === 'FOK' ? ONE_PRICE : price;
    if (asset.asset_type === 'COLLATERAL') sum += side === 'BUY' ? perUnit * left : 0n;
    else if (side === 'SELL' && token === asset.token_id) sum += ONE_PRICE * left;
  }
  return (sum + ONE_PRICE - 1n) / ONE_PRICE;
}

const allowancesOf = (asset: string, funds: Funds | undefined): Allowance[] =>
  [...(funds?.allowances ?? [])].map(([spender, amount]) => ({
    asset,
    spender,
    name: spenderName(spender),
    amount: amount >= NO_LIMIT ? null : amount,
  }));
