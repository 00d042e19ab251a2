import { getAddress, hashTypedData, isAddress, recoverTypedDataAddress, zeroAddress } from 'viem';
import { scaledInteger } from '../lib/index.ts';
import { findMarket } from './discovery.ts';
import { isExpired } from './lifecycle.ts';
import type { Profile } from './members.ts';
import { TICKS, type ClobMarket, type Outcome, type Side } from './model.ts';
import { isObject, refuse, type JsonBody } from './wire.ts';
import type { LimitlessWorld } from './world.ts';

export type OrderType = 'GTC' | 'FOK' | 'FAK';
export type StpPolicy = 'cancel_maker' | 'cancel_taker' | 'cancel_both';

/** A signed order as it came, its numbers made exact. */
export interface SignedOrder {
  salt: bigint;
  maker: `0x${string}`;
  signer: `0x${string}`;
  taker: `0x${string}`;
  tokenId: string;
  makerAmount: bigint;
  takerAmount: bigint;
  expiration: bigint;
  nonce: bigint;
  feeRateBps: number;
  side: 0 | 1;
  signatureType: number;
  signature: `0x${string}`;
}

/** An order that passed every check but those of balance. */
export interface Intent {
  profile: Profile;
  market: ClobMarket;
  signed: SignedOrder;
  /** The EIP-712 hash; a second order with it is refused. */
  hash: string;
  orderType: OrderType;
  outcome: Outcome;
  side: Side;
  /** In terms of its token; null for FOK. */
  tick: number | null;
  /** What GTC and FAK ask for in shares, FOK in what it gives: USDC for a buy, shares for a sell. */
  want: { shares: bigint } | { usd: bigint };
  postOnly: boolean;
  clientOrderId: string | null;
  stpPolicy: StpPolicy;
}

const ORDER_TYPES = {
  Order: [
    { name: 'salt', type: 'uint256' },
    { name: 'maker', type: 'address' },
    { name: 'signer', type: 'address' },
    { name: 'taker', type: 'address' },
    { name: 'tokenId', type: 'uint256' },
    { name: 'makerAmount', type: 'uint256' },
    { name: 'takerAmount', type: 'uint256' },
    { name: 'expiration', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'feeRateBps', type: 'uint256' },
    { name: 'side', type: 'uint8' },
    { name: 'signatureType', type: 'uint8' },
  ],
} as const;
const INT64_MAX = 2n ** 63n - 1n;
const MAX_RECV_WINDOW_MS = 10_000;

/** Checks a body of POST /orders in the platform's order: types, time window, market, amounts, wallet, signature. */
export async function readOrder(world: LimitlessWorld, profile: Profile, body: unknown): Promise<Intent> {
  const { top, order } = readTypes(body);
  checkWindow(top, world.clock.now());
  const market = tradableMarket(world, top['marketSlug'] as string);
  if (top['ownerId'] !== profile.id) throw refuse(400, 'ownerId does not match the authenticated profile');
  const signed = readSigned(order);
  if (signed.expiration !== 0n) {
    throw refuse(400, 'Order expiration is not currently supported. Please sign orders without expiration.');
  }
  if (signed.nonce !== 0n) throw refuse(400, 'Invalid nonce: only 0 is supported');
  // An order for one taker never meets the book.
  if (signed.taker !== zeroAddress) throw refuse(400, 'Invalid taker: only the zero address is supported');
  const at = market.tokens.indexOf(signed.tokenId);
  if (at < 0) throw refuse(400, 'tokenId does not belong to this market');
  if (signed.feeRateBps !== profile.feeRateBps)
    throw refuse(400, `feeRateBps[${signed.feeRateBps}] is out of user's band`);
  checkWallet(profile, signed);
  const orderType = top['orderType'] as OrderType;
  const side: Side = signed.side === 0 ? 'BUY' : 'SELL';
  const terms = orderType === 'FOK' ? fokTerms(order, signed, side) : limitTerms(order, signed, side, orderType);
  if (top['postOnly'] === true && orderType !== 'GTC') throw refuse(400, 'postOnly is supported for GTC orders only');
  return {
    profile,
    market,
    signed,
    hash: await checkSignature(signed, market),
    orderType,
    outcome: at as Outcome,
    side,
    ...terms,
    postOnly: top['postOnly'] === true,
    clientOrderId: (top['clientOrderId'] as string | undefined) ?? null,
    stpPolicy: (top['stpPolicy'] as StpPolicy | undefined) ?? 'cancel_maker',
  };
}

/** Amounts, flags and enumerations are JSON numbers; ids and the expiration are texts: the other way round is refused. */
function readTypes(body: unknown): { top: JsonBody; order: JsonBody } {
  if (!isObject(body)) throw refuse(400, 'Body must be a JSON object');
  const order = isObject(body['order']) ? body['order'] : {};
  const errors: { property: string; error: string }[] = [];
  const need = (holder: JsonBody, name: string, isRight: (value: unknown) => boolean, rule: string): void => {
    if (!isRight(holder[name])) errors.push({ property: name, error: `${name} ${rule}` });
  };
  for (const name of ['makerAmount', 'takerAmount', 'nonce', 'feeRateBps', 'side', 'signatureType']) {
    need(
      order,
      name,
      (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0,
      'must be a number conforming to the specified constraints',
    );
  }
  for (const name of ['tokenId', 'expiration']) {
    need(order, name, (value) => typeof value === 'string' && /^\d{1,78}$/.test(value), 'must be a string');
  }
  for (const name of ['maker', 'signer', 'taker']) {
    need(order, name, isChecksummed, 'must be a checksummed Ethereum address');
  }
  need(order, 'salt', (value) => /^\d{1,78}$/.test(String(value)), 'must be an integer number');
  need(
    order,
    'signature',
    (value) => typeof value === 'string' && /^0x[0-9a-fA-F]+$/.test(value),
    'must be a hexadecimal string',
  );
  need(
    body,
    'orderType',
    (value) => ['GTC', 'FOK', 'FAK'].includes(String(value)),
    'must be one of the following values: GTC, FOK, FAK',
  );
  need(body, 'marketSlug', (value) => typeof value === 'string', 'must be a string');
  need(body, 'ownerId', (value) => Number.isInteger(value), 'must be an integer number');
  const optional = (name: string, isRight: (value: unknown) => boolean, rule: string): void => {
    if (body[name] !== undefined) need(body, name, isRight, rule);
  };
  optional('postOnly', (value) => typeof value === 'boolean', 'must be a boolean value');
  optional(
    'clientOrderId',
    (value) => typeof value === 'string' && value !== '' && value.length <= 128,
    'must be shorter than or equal to 128 characters',
  );
  optional('timestamp', Number.isInteger, 'must be an integer number');
  optional(
    'recvWindow',
    (value) => Number.isInteger(value) && Number(value) > 0 && Number(value) <= MAX_RECV_WINDOW_MS,
    `must not be greater than ${MAX_RECV_WINDOW_MS}`,
  );
  optional(
    'stpPolicy',
    (value) => ['cancel_maker', 'cancel_taker', 'cancel_both'].includes(String(value)),
    'must be one of the following values: cancel_maker, cancel_taker, cancel_both',
  );
  if (errors.length > 0) throw refuse(400, errors);
  return { top: body, order };
}

/** A refusal for coming too late has no `code`: the order must be signed anew, not sent again. */
function checkWindow(top: JsonBody, now: number): void {
  const { timestamp, recvWindow } = top as { timestamp?: number; recvWindow?: number };
  if (timestamp === undefined) return;
  const window = recvWindow ?? MAX_RECV_WINDOW_MS;
  if (now > timestamp + window || timestamp > now + 1000)
    throw refuse(425, 'Request timestamp is outside of the receive window');
}

function tradableMarket(world: LimitlessWorld, slug: string): ClobMarket {
  if (world.groups.has(slug)) throw refuse(400, 'Orders cannot be placed on a group market');
  const market = findMarket(world, slug);
  if (market.kind !== 'clob') throw refuse(400, 'Orders cannot be placed on an AMM market');
  if (isExpired(market, world.clock.now())) throw refuse(400, 'Market deadline has passed');
  if (market.status !== 'FUNDED') throw refuse(400, `Market is not active: ${market.status}`);
  return market;
}

function readSigned(order: JsonBody): SignedOrder {
  const salt = BigInt(String(order['salt']));
  if (salt > INT64_MAX) throw refuse(400, `value '${salt}' is out of range for type bigint`);
  const amount = (name: string): bigint => BigInt(order[name] as number);
  const text = (name: string) => order[name] as `0x${string}`;
  return {
    salt,
    maker: text('maker'),
    signer: text('signer'),
    taker: text('taker'),
    tokenId: order['tokenId'] as string,
    makerAmount: amount('makerAmount'),
    takerAmount: amount('takerAmount'),
    expiration: BigInt(order['expiration'] as string),
    nonce: amount('nonce'),
    feeRateBps: order['feeRateBps'] as number,
    side: order['side'] === 0 ? 0 : 1,
    signatureType: order['signatureType'] as number,
    signature: text('signature'),
  };
}

function checkWallet(profile: Profile, { maker, signer, signatureType }: SignedOrder): void {
  const isSmart = profile.tradeWalletOption === 'smartWallet';
  const wanted = isSmart
    ? { maker: profile.smartWallet, signer: profile.embeddedAccount, signatureType: 2 }
    : { maker: profile.address, signer: profile.address, signatureType: 0 };
  if (maker === wanted.maker && signer === wanted.signer && signatureType === wanted.signatureType) return;
  throw refuse(400, `Order wallet does not match the profile's trade wallet option: ${profile.tradeWalletOption}`);
}

/** GTC and FAK: a price on the grid, and amounts that are exactly price times contracts. */
function limitTerms(order: JsonBody, signed: SignedOrder, side: Side, orderType: OrderType) {
  const price = order['price'];
  if (price === undefined || price === null) throw refuse(400, `${orderType} order must have a price`);
  const tick = typeof price === 'number' ? scaledInteger(String(price), 3) : null;
  if (tick === null || tick < 1n || tick >= BigInt(TICKS)) {
    throw refuse(400, 'price must be a number between 0.001 and 0.999 with at most 3 decimal places');
  }
  const [collateral, contracts] =
    side === 'BUY' ? [signed.makerAmount, signed.takerAmount] : [signed.takerAmount, signed.makerAmount];
  const thousandths = contracts * tick;
  if (contracts === 0n || thousandths % 1000n !== 0n) {
    const whole = (contracts / 1000n) * 1000n;
    throw refuse(
      400,
      `Order amounts tick violation: price(${price as number}) * contracts(${contracts}) = ${Number(thousandths) / 1000} is not a whole (integer) number. ` +
        `Use contracts ending with price tick size zeros (3), e.g. price=${price as number}, contracts=${whole}, collateral=${(whole * tick) / 1000n}`,
    );
  }
  if (collateral !== thousandths / 1000n)
    throw refuse(
      400,
      `Order amounts do not match the price: expected collateral ${thousandths / 1000n}, got ${collateral}`,
    );
  return { tick: Number(tick), want: { shares: contracts } };
}

/** FOK names what it gives and takes any price. */
function fokTerms(order: JsonBody, signed: SignedOrder, side: Side) {
  if (order['price'] !== undefined && order['price'] !== null) throw refuse(400, 'FOK order must not have a price');
  if (signed.takerAmount !== 1n) throw refuse(400, 'FOK order takerAmount must be 1');
  if (signed.makerAmount === 0n) throw refuse(400, 'makerAmount must not be less than 1');
  return { tick: null, want: side === 'BUY' ? { usd: signed.makerAmount } : { shares: signed.makerAmount } };
}

/** Recovers the signer over the market's own exchange; the answer to a wrong one names the right one. */
async function checkSignature(signed: SignedOrder, market: ClobMarket): Promise<string> {
  const { signature, tokenId, feeRateBps, ...rest } = signed;
  const typed = {
    domain: { name: 'Limitless CTF Exchange', version: '1', chainId: 8453, verifyingContract: market.venue.exchange },
    types: ORDER_TYPES,
    primaryType: 'Order',
    message: { ...rest, tokenId: BigInt(tokenId), feeRateBps: BigInt(feeRateBps) },
  } as const;
  const signer = await recoverTypedDataAddress({ ...typed, signature }).catch(() => null);
  if (signer !== signed.signer) {
    throw refuse(400, `Invalid signature. Exchange address for this market: ${market.venue.exchange}`);
  }
  return hashTypedData(typed);
}

const isChecksummed = (value: unknown): boolean =>
  typeof value === 'string' && isAddress(value) && getAddress(value) === value;
