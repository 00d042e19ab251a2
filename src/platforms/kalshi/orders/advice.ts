import type { CheckRule, RejectionRules } from '../../refusal-rules.ts';

/** Refusals before an order is signed. */
export const KALSHI_CHECKS = {
  price: {
    message: 'Kalshi would reject the price',
    resolution: "Use a price of the market's grid",
  },
  size: {
    message: 'Kalshi would reject the size',
    resolution: 'Use at most two decimals',
  },
  selfTrade: {
    message: 'Kalshi cannot cancel both orders of a self-trade',
    resolution: 'Use self_trade_prevention cancel_taker or cancel_maker',
  },
  key: {
    message: 'The private key of the credential is not accepted',
    resolution: 'Store another key',
  },
} as const satisfies Record<string, CheckRule>;

const CLOCK = 'the clock of the server that runs this service must be right';

/** Rejections by Kalshi, the most specific first. */
export const KALSHI_REJECTIONS: RejectionRules = {
  key: [
    {
      says: 'region, location',
      pattern: /region|location|attest|geo/i,
      resolution: 'Confirm your location for the API key on Kalshi.',
    },
    {
      says: 'timestamp',
      pattern: /timestamp|clock|expired/i,
      resolution: `Retry; if it happens again, tell the operator: ${CLOCK}.`,
    },
    {
      says: 'scope, forbidden',
      pattern: /scope|forbidden|permission/i,
      resolution: 'Use an API key with the scope write or write::trade.',
    },
    {
      says: 'subaccount',
      pattern: /subaccount/i,
      resolution: 'Use an API key that is not locked to a subaccount.',
    },
    {
      says: 'any other 401 or 403',
      pattern: /(?:)/,
      resolution: `Check the stored key: it must exist on Kalshi, and the private key must belong to it. If both are right, ${CLOCK}.`,
    },
  ],
  order: [
    {
      says: 'available_balance_too_low',
      pattern: /balance|insufficient.?(?:funds|cash)/i,
      resolution:
        "Fund the account or lower the size. Kalshi keeps cash for each exchange shard: only the cash of the market's shard pays, less what open orders reserve.",
    },
    {
      says: 'post only cross',
      pattern: /post.?only/i,
      resolution: 'The order would trade at once: use a price that does not cross the book, or leave out post_only.',
    },
    {
      says: 'reduce_only',
      pattern: /reduce.?only/i,
      resolution: 'This order would not reduce a position: check the position, or leave out reduce_only.',
    },
    {
      says: 'self trade',
      pattern: /self.?(?:trade|trading|cross|match)/i,
      resolution:
        'The order would trade with an open order of the account: cancel that order, or use self_trade_prevention cancel_maker.',
    },
    {
      says: 'fill or kill',
      pattern: /fill.?or.?kill|\bfok\b/i,
      resolution: 'The book cannot fill the whole order now: use ioc, another price or a smaller size.',
    },
    {
      says: 'immediate or cancel',
      pattern: /immediate.?or.?cancel|\bioc\b/i,
      resolution: 'The book has nothing at this price now: use another price, or gtc.',
    },
    {
      says: 'exchange_index',
      pattern: /exchange.?index|shard/i,
      resolution:
        'The market has moved to another exchange shard: place the order again, under a new idempotency key. It goes to the new shard.',
    },
    {
      says: 'MARKET_INACTIVE, market is not active',
      pattern: /inactive|not active|market.{0,20}(?:closed|settled)/i,
      resolution: 'The market does not trade now: choose a market that is open.',
    },
    {
      says: 'not_found',
      pattern: /not.?found/i,
      resolution: 'Kalshi does not have this market any more: GET the market for its state.',
    },
    {
      says: 'position limit',
      pattern: /(?:position|exposure|risk).{0,20}limit|limit.{0,20}(?:position|exposure)/i,
      resolution: "The position would exceed Kalshi's limit for this market: lower the size.",
    },
    {
      says: 'expiration_time',
      pattern: /expiration/i,
      resolution: 'Use a later expiration.',
    },
    {
      says: 'invalid_order_size',
      pattern: /order.?size|\bcount\b/i,
      resolution: 'Use a size of at least 0.01, with at most two decimals, that Kalshi accepts for one order.',
    },
    {
      says: 'invalid price',
      pattern: /price/i,
      resolution: "Use a price of the market's grid; its order book shows the current tick.",
    },
    {
      says: 'any other 400 or 409',
      pattern: /(?:)/,
      resolution: 'Correct the order according to error_text.',
    },
  ],
};

/** Codes about one order. If one refuses a whole batch, other orders of it may exist. */
export const ONE_ORDER_CODES: ReadonlySet<string> = new Set([
  'invalid_order',
  'invalid_order_size',
  'available_balance_too_low',
  'fill_or_kill_insufficient_resting_volume',
  'immediate_or_cancel_insufficient_resting_volume',
  'not_found',
  'MARKET_INACTIVE',
]);

/** Codes with which Kalshi refuses one order of a batch, apart from pauses. After any other error the order may exist: it is looked up. */
export const REFUSING_CODES: ReadonlySet<string> = new Set([
  ...ONE_ORDER_CODES,
  'bad_request',
  'invalid_parameters',
  'missing_parameters',
]);
