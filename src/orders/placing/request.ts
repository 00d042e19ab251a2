import type { z } from 'zod';
import { MANIFESTS } from '../../platforms/manifests.ts';
import { badRequest, type FieldIssue } from '../../core/errors.ts';
import { parsePrice, PRICE_SCALE, priceText, SIZE_SCALE, USD_SCALE, usdText } from '../../core/decimal.ts';
import {
  enumParam,
  exactDecimal,
  flagParam,
  integerParam,
  marketIdParam,
  platformParam,
  timestampParam,
} from '../../schemas/parameters.ts';
import { storedTextParam, textParam } from '../../core/fields.ts';
import {
  canRest,
  ORDER_TYPES,
  SELF_TRADE_PREVENTIONS,
  TIMES_IN_FORCE,
  type TimeInForce,
} from '../../core/order-model.ts';
import type { PlacementMember } from '../../platforms/order-contract.ts';
import type { StoredMarket } from '../../platforms/contract.ts';
import { bodyHash } from './order-ids.ts';
import { refused } from '../refusals.ts';

const LOWEST = parsePrice('0.01');
const HIGHEST = parsePrice('0.99');
const MOST = 10n ** BigInt(SIZE_SCALE + 9);
/** An expiration nearer than this may pass before the order arrives. */
const SOONEST_MS = 5000;
const priceRule = 'a price of 0.01 to 0.99';
const amountRule = `USD above 0 and up to 1000000000, with at most ${USD_SCALE} decimals`;
const sizeRule = `a size above 0 and up to 1000000000, with at most ${SIZE_SCALE} decimals`;
const slippageRule = 'a distance in price of 0 to 0.98';

/** The body of POST orders. */
export const orderFields = {
  platform: platformParam(),
  market_id: marketIdParam(),
  side: enumParam(['buy', 'sell']).describe('For the named outcome'),
  outcome: textParam(200).describe('Id or name of an outcome of the market'),
  type: enumParam(ORDER_TYPES).describe('limit; or market, with a worst price'),
  size: exactDecimal(SIZE_SCALE, 1n, MOST, sizeRule)
    .optional()
    .describe('Contracts or shares, up to 6 decimals; required unless amount is given'),
  amount: exactDecimal(USD_SCALE, 1n, MOST, amountRule)
    .optional()
    .describe(
      'Market purchases: the most to spend, USD before fees, in place of size. The size follows from the current book. Where the platform takes a size, worst price × size is at most the amount, and a part may stay unspent',
    ),
  credential_id: integerParam(1, Number.MAX_SAFE_INTEGER)
    .optional()
    .describe("Number of a stored credential. Default: the platform's default one, else the operator's client"),
  price: exactDecimal(
    PRICE_SCALE,
    LOWEST,
    HIGHEST,
    `${priceRule} on the market's price grid, with at most ${PRICE_SCALE} decimals`,
  )
    .optional()
    .describe('0.01..0.99; required for limit orders. With a market order: its worst price'),
  time_in_force: enumParam(TIMES_IN_FORCE)
    .optional()
    .describe('Default gtc; gtd with an expiration; ioc for market orders'),
  expiration: timestampParam()
    .optional()
    .describe('ISO-8601, Unix seconds or milliseconds; gtd only, at least 5 s ahead'),
  client_order_id: storedTextParam(64).optional().describe('Client order id, not used before; generated if omitted'),
  idempotency_key: storedTextParam(200)
    .optional()
    .describe('Unique for as long as the order is kept: a repeat answers with the same order'),
  max_slippage: exactDecimal(PRICE_SCALE, 0n, parsePrice('0.98'), slippageRule)
    .optional()
    .describe(
      'Market orders: how far from the best price it may trade, 0..0.98. Default: as far as its size needs now',
    ),
  post_only: flagParam(false).describe(
    'gtc and gtd: true = the platform refuses the order, or cancels it, where it would trade at once',
  ),
  reduce_only: flagParam(false).describe(
    'true: the order may only reduce a position of the account; refused (422) where it would do more than open orders leave of it',
  ),
  self_trade_prevention: enumParam(SELF_TRADE_PREVENTIONS)
    .optional()
    .describe("What is cancelled when it would trade with the account's own order; default: the platform's rule"),
  dry_run: flagParam(false).describe('true: check and sign, but neither send nor store'),
};

/** The parsed body of POST orders: exact decimals and Unix ms, not yet checked against the market. */
export type OrderBody = z.output<z.ZodObject<typeof orderFields>>;

/** The request as asked: the body that `contradictionsOf` has accepted, and what follows from it. */
export interface OrderRequest {
  userId: string;
  requestId: string;
  body: OrderBody;
  timeInForce: TimeInForce;
  /** The idempotency key, and the hash of the body; null and '' without a key. */
  key: string | null;
  hash: string;
  /** Other orders that are placed with it. */
  group: PlacementMember | undefined;
}

/** The request built from a body that `contradictionsOf` has accepted. */
export function orderRequest(
  userId: string,
  body: OrderBody,
  requestId: string,
  group: PlacementMember | undefined,
): OrderRequest {
  const { idempotency_key: key = null, dry_run: _, ...asked } = body;
  // An absent flag means false: both are the same request.
  const flags = { post_only: asked.post_only || undefined, reduce_only: asked.reduce_only || undefined };
  const hash = key === null ? '' : bodyHash({ ...asked, ...flags });
  return { userId, requestId, body, timeInForce: timeInForceOf(body), key, hash, group };
}

/** The time in force of the body; the default follows from type and expiration. */
const timeInForceOf = ({ type, expiration, time_in_force: given }: Partial<OrderBody>): TimeInForce =>
  given ?? (type === 'market' ? 'ioc' : expiration === undefined ? 'gtc' : 'gtd');

/** The fault of an order that expires too soon, else null. */
function tooSoon(timeInForce: TimeInForce, expiration: number | undefined, nowMs: number): FieldIssue | null {
  if (timeInForce !== 'gtd' || expiration === undefined || expiration >= nowMs + SOONEST_MS) return null;
  const expected = `a time at least ${SOONEST_MS / 1000} seconds ahead`;
  return { field: 'expiration', expected, received: new Date(expiration).toISOString() };
}

/**
 * Every contradiction between fields of a body, except about fields that are `failing` by themselves. An expiration that is too near is
 * listed only beside other faults: alone it is checked later (`requireAhead`), because a repeat of a placed order must still be answered.
 */
export function contradictionsOf(body: Partial<OrderBody>, failing: ReadonlySet<string>, nowMs: number): FieldIssue[] {
  const issues: FieldIssue[] = [];
  const refuse = (field: string, expected: string, received: string): void => {
    if (!failing.has(field)) issues.push({ field, expected, received });
  };
  const { type, side, price, size, amount, expiration, max_slippage: slippage } = body;
  if (type === 'limit' && price === undefined) refuse('price', `${priceRule}, which a limit order needs`, 'nothing');
  if (type === 'limit' && slippage !== undefined) {
    refuse('max_slippage', 'only with a market order: the price of a limit order is its limit', priceText(slippage));
  }
  if (size === undefined && amount === undefined && !failing.has('amount')) refuse('size', sizeRule, 'nothing');
  if (size !== undefined && amount !== undefined) refuse('amount', 'either size or amount', usdText(amount));
  else if (amount !== undefined && (type === 'limit' || side === 'sell')) {
    refuse('amount', 'only with a market purchase (use size)', usdText(amount));
  }
  // The default follows from the two others.
  const decides = body.time_in_force === undefined ? ['time_in_force', 'type', 'expiration'] : ['time_in_force'];
  if (decides.some((field) => failing.has(field))) return issues;
  const tif = timeInForceOf(body);
  if (type === 'market' && canRest(tif)) {
    refuse('time_in_force', 'ioc or fok with a market order, which cannot rest', tif);
  }
  if (body.post_only && !canRest(tif)) {
    refuse('post_only', `false with ${tif}: only gtc and gtd orders can rest`, 'true');
  }
  const shown = expiration === undefined ? 'nothing' : new Date(expiration).toISOString();
  if (tif === 'gtd' && expiration === undefined) refuse('expiration', 'a time, which gtd needs', shown);
  if (tif !== 'gtd' && expiration !== undefined)
    refuse('expiration', `only with gtd: ${tif} orders do not expire`, shown);
  const near = tooSoon(tif, expiration, nowMs);
  return near && failing.size + issues.length > 0 ? [...issues, near] : issues;
}

/** 400 when the order would expire too soon. */
export function requireAhead({ timeInForce, body: { expiration } }: OrderRequest, nowMs: number): void {
  const near = tooSoon(timeInForce, expiration, nowMs);
  if (near) throw badRequest([near]);
}

/** Index of the outcome that a caller names, by id, then by name in any case; 400 if the market has none. */
export function outcomeIndexOf(market: StoredMarket, word: string): number {
  const wanted = word.toLowerCase();
  const byId = market.outcomes.findIndex(({ id }) => id === wanted);
  const index = byId >= 0 ? byId : market.outcomes.findIndex(({ name }) => name.toLowerCase() === wanted);
  if (index >= 0) return index;
  const known = market.outcomes.map(({ id }) => id).join(', ');
  throw badRequest([{ field: 'outcome', expected: `one of ${known}`, received: JSON.stringify(word) }]);
}

/** 422 unless the market takes orders now. Where the stated end of trading binds, it counts too. */
export function requireOpen(market: StoredMarket, nowMs: number): void {
  const { status, tradingEndAt, platform } = market;
  const ended = MANIFESTS[platform].tradingEndBinds && tradingEndAt !== null && Date.parse(tradingEndAt) <= nowMs;
  if (status === 'open' && !ended) return;
  throw refused(
    'marketClosed',
    ended ? `${market.platformId} stopped trading at ${tradingEndAt}` : `${market.platformId} is ${status}`,
  );
}
