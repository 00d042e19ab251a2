import { divideHalfEven } from '../../../../src/core/decimal.ts';
import { hasBook, isClosed, type SimMarket } from '../world/model.ts';
import { ONE, priceText, sizeText } from '../world/units.ts';
import type { PolymarketWorld } from '../world/world.ts';
import { ClobError } from './error.ts';
import type { ApiKey } from './keys.ts';
import { wrongVersion, type OrderPayload, type SimOrder } from './order.ts';
import { orderHash, orderSigner, type Venue } from './typed-data.ts';

/** Decimals of the pUSD side of an order, by tick. */
const AMOUNT_DECIMALS: Record<string, number> = {
  '0.1': 3,
  '0.01': 4,
  '0.005': 5,
  '0.0025': 6,
  '0.001': 5,
  '0.0001': 6,
};
/** How far ahead an expiration has to be, of which the last minute is not lived. */
const SECURITY_SECONDS = 180;

const refuse = (message: string): ClobError => new ClobError(400, message);

export const venueOf = (market: SimMarket): Venue =>
  market.version === 'v2' ? 'v3' : market.event.negRisk ? 'negRisk' : 'standard';

/** Everything about a posted order that can be refused before the book is looked at. */
export async function checkOrder(world: PolymarketWorld, key: ApiKey, payload: OrderPayload): Promise<SimOrder> {
  const { order, orderType: type, postOnly } = payload;
  if (payload.owner !== key.apiKey) throw refuse('the order owner has to be the owner of the API KEY');
  const asked = world.catalog.byTokenId(order.tokenId);
  if (!asked || !hasBook(asked.market) || isClosed(asked.market)) {
    throw new ClobError(404, 'No orderbook exists for the requested token id');
  }
  const { market, outcome } = asked;
  if (market.state !== 'open') throw refuse('the market is not yet ready to process new orders');
  if (market.negRiskOther && order.side === 'BUY') throw refuse('the market is not yet ready to process new orders');
  const account = await checkSigner(world, key, payload, market);
  if (postOnly && (type === 'FOK' || type === 'FAK')) {
    throw refuse('invalid post-only order: only GTC and GTD order types are allowed');
  }
  const id = orderHash(order, venueOf(market));
  const buys = order.side === 'BUY';
  const shares = BigInt(buys ? order.takerAmount : order.makerAmount);
  const usd = BigInt(buys ? order.makerAmount : order.takerAmount);
  const price = checkAmounts(id, { side: order.side, type, shares, usd, market });
  if ((type === 'GTC' || type === 'GTD') && shares < market.minSize) {
    throw refuse(
      `order ${id} is invalid. Size (${sizeText(shares)}) lower than the minimum: ${sizeText(market.minSize)}`,
    );
  }
  const seconds = Number(order.expiration);
  if (type === 'GTD' ? seconds < Math.floor(world.now() / 1000) + SECURITY_SECONDS : seconds !== 0) {
    throw refuse('invalid expiration');
  }
  return {
    id,
    account,
    owner: key.apiKey,
    market,
    outcome,
    side: order.side,
    type,
    postOnly,
    price,
    shares,
    usd,
    expiration: order.expiration,
    createdMs: world.now(),
    status: 'LIVE',
    matched: 0n,
    tradeIds: [],
  };
}

/** The maker's wallet belongs to the key's owner, and the owner signed for the market's own contract. */
async function checkSigner(world: PolymarketWorld, key: ApiKey, { order }: OrderPayload, market: SimMarket) {
  const account = world.exchange.accounts.byMaker(order.maker) ?? world.exchange.accounts.byOwner(key.address);
  if (account?.banned) throw refuse(`'${order.maker}' address banned`);
  if (account?.closedOnly && order.side === 'BUY') throw refuse(`'${order.maker}' address in closed only mode`);
  if (account?.depositFlowOnly && order.signatureType !== 3) {
    throw refuse('maker address not allowed, please use the deposit wallet flow');
  }
  const ownKey = order.signatureType === 3 ? account?.owner : order.signer.toLowerCase();
  if (ownKey !== key.address) throw refuse('the order signer address has to be the address of the API KEY');
  const wallets =
    order.signatureType === 0 || order.signatureType === 3
      ? order.maker.toLowerCase() === order.signer.toLowerCase()
      : true;
  const belongs =
    account?.wallet.address === order.maker.toLowerCase() && account.signatureType === order.signatureType;
  const venue = venueOf(market);
  if (account && wallets && belongs && (await signedFor(order, venue, account.owner))) return account;
  // Signed for the contract of another protocol version.
  for (const other of ['standard', 'v3'] as const) {
    if ((other === 'v3') !== (venue === 'v3') && account && (await signedFor(order, other, account.owner)))
      throw wrongVersion();
  }
  throw refuse('invalid signature');
}

const signedFor = async (order: OrderPayload['order'], venue: Venue, owner: string): Promise<boolean> =>
  (await orderSigner(order, venue))?.toLowerCase() === owner;

/** Whether an amount ×10^6 has at most so many decimals. */
const fits = (value: bigint, decimals: number): boolean => value % 10n ** BigInt(6 - decimals) === 0n;

/** The price that two amounts mean, if they are as coarse as the market's tick asks and the price is on its grid. */
function checkAmounts(
  id: string,
  order: { side: 'BUY' | 'SELL'; type: OrderPayload['orderType']; shares: bigint; usd: bigint; market: SimMarket },
): bigint {
  const { side, type, shares, usd, market } = order;
  const now = type === 'FOK' || type === 'FAK';
  const amountDecimals = AMOUNT_DECIMALS[priceText(market.tick)] ?? 6;
  const spending = now && side === 'BUY';
  if (shares === 0n || usd === 0n) throw refuse('Invalid order payload');
  if (!fits(spending ? usd : shares, 2) || !fits(spending ? shares : usd, amountDecimals)) {
    const what = now ? (spending ? 'market buy' : 'sell') : `limit ${side.toLowerCase()}`;
    const [maker, taker] = !now && side === 'BUY' ? [amountDecimals, 2] : [2, amountDecimals];
    throw refuse(
      `invalid amounts, the ${what} orders maker amount supports a max accuracy of ${maker} decimals, taker amount a max of ${taker} decimals`,
    );
  }
  const price = (usd * ONE) / shares;
  const onGrid = divideHalfEven(price, market.tick) * market.tick;
  // An amount cut to the tick's decimals leaves the price of a market order a trifle off the grid.
  const off = price > onGrid ? price - onGrid : onGrid - price;
  const exact = off === 0n && (usd * ONE) % shares === 0n;
  if (!(exact || (now && off < market.tick / 10n)) || onGrid < market.tick || onGrid > ONE - market.tick) {
    throw refuse(
      `order ${id} is invalid. Price (${priceText(price)}) breaks minimum tick size rule: ${priceText(market.tick)}`,
    );
  }
  return onGrid;
}
