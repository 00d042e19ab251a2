import { Cache } from '../../../core/cache.ts';
import { ONE_PRICE, parseSize, type Size } from '../../../core/decimal.ts';
import { systemClock } from '../../../core/time.ts';
import { balanceOf } from '../../balance.ts';
import type { Allowance, Balances, OrderAccess } from '../../order-contract.ts';
import type { StoredMarket } from '../../contract.ts';
import type { PolymarketAccount } from '../signed-client.ts';
import { sharesAsset, spenderName } from './exchanges.ts';
import { assetOf, readFunds, refreshFunds, type Asset, type Funds } from './funds.ts';
import { readOpenOrders } from './reads.ts';
import { unitOf, type ClobOrder } from './rows.ts';

/** Wallets give contracts this much or more when they set no limit. */
const NO_LIMIT = 2n ** 128n;

/** The CLOB is asked this often at most to read an asset of a wallet again. */
const AGAIN_MS = 60_000;
const MAX_ASSETS = 10_000;
/** How long that may take. */
const TIMEOUT_MS = 1000;

type ReadFunds = (account: PolymarketAccount, asset: Asset, signal: AbortSignal | undefined) => Promise<Funds>;

/**
 * What the CLOB reads of an asset. It also states 0 for one that it has never read, or had read before the wallet got some: such a
 * balance is read again before it is stated.
 */
function createReadFunds(): ReadFunds {
  const askedFor = new Cache<string, true>({ limit: MAX_ASSETS, ttlMs: AGAIN_MS });
  return async (account, asset, signal) => {
    const funds = await readFunds(account, asset, signal);
    const name = assetOf(account, asset);
    if (funds.balance > 0n || askedFor.get(name)) return funds;
    askedFor.set(name, true);
    await refreshFunds(account, asset, systemClock.deadline(TIMEOUT_MS));
    return readFunds(account, asset, signal);
  };
}

/** Reads balances of accounts. */
export function createBalanceReader() {
  const fundsOf = createReadFunds();
  return (account: PolymarketAccount, market: StoredMarket | null, access: OrderAccess<'polymarket'>) =>
    readBalances(fundsOf, account, market, access);
}

/** pUSD of the wallet, and its shares of a market's outcomes, as the CLOB reads them now. Open orders say what of it is reserved. */
async function readBalances(
  fundsOf: ReadFunds,
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
    ...assets.map(({ asset }) => fundsOf(account, asset, access.signal)),
  ]);
  return {
    balances: assets.map(({ name, asset }, at) =>
      balanceOf(name, funds[at]?.balance ?? null, orders && reservedBy(orders, asset, funds[at]?.balance ?? 0n)),
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

/** An order of this size may be in base units, if the wallet could not pay for it in shares. */
const LARGE: Size = parseSize('999999');

/** Purchases reserve pUSD, without fees; sales reserve their shares. */
function reservedBy(orders: readonly ClobOrder[], asset: Asset, balance: bigint): bigint {
  let sum = 0n;
  for (const row of orders) {
    const { side, asset_id: token, original_size: size, size_matched: matched, order_type: type } = row;
    const isReserved = asset.asset_type === 'COLLATERAL' ? side === 'BUY' : side === 'SELL' && token === asset.token_id;
    if (!isReserved) continue;
    // A purchase that fills at once is sized in pUSD.
    const price = side === 'SELL' || type === 'FAK' || type === 'FOK' || row.price === 0n ? ONE_PRICE : row.price;
    const payable = (balance * ONE_PRICE) / price;
    const left = size > matched ? size - matched : 0n;
    sum += (price * left) / unitOf(row.original_size, payable > LARGE ? payable : LARGE);
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
