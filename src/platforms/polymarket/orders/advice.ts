import type { CheckRule, RejectionRules } from '../../refusal-rules.ts';

/** Refusals before an order is signed. */
export const POLYMARKET_CHECKS = {
  price: {
    message: 'Polymarket would reject the price',
    resolution: "Use a price of the market's grid",
  },
  size: {
    message: 'Polymarket would reject the size',
    resolution: 'Use at most two decimals',
  },
  amount: {
    message: 'Polymarket would reject the amount',
    resolution: 'Use at most two decimals',
  },
  tooSmallToRest: {
    message: 'The order is too small to rest on Polymarket',
    resolution: 'Use time_in_force ioc or fok, or a size that may rest',
  },
  tooSmall: {
    message: 'The order is too small for Polymarket',
    resolution: 'A purchase that fills at once spends at least 1 pUSD',
  },
  notOffered: {
    message: 'The book does not offer the size within the price',
    resolution: 'Use a smaller size or a higher price, or time_in_force gtc to wait for it',
  },
  cents: {
    message: 'Polymarket cannot spend the exact cost of the size',
    resolution: 'A fok purchase spends whole cents. Use time_in_force ioc, or another size',
  },
  expiration: {
    message: 'Polymarket would reject the expiration',
    resolution: 'Keep the order valid for 120 seconds or more after it arrives, or use time_in_force gtc',
  },
  postOnly: {
    message: 'Polymarket takes post_only for orders that rest',
    resolution: 'Use time_in_force gtc or gtd, or leave post_only out',
  },
  selfTrade: {
    message: 'Polymarket has no choice of self-trade prevention',
    resolution: 'Leave self_trade_prevention out',
  },
  protocol: {
    message: 'The market runs on a protocol of Polymarket that is not supported',
    resolution: 'Choose another market',
  },
  exchange: {
    message: 'The exchange contract of the market is not known',
    resolution: 'Choose another market',
  },
  placeholder: {
    message: 'The market stands for outcomes that its event does not name',
    resolution: 'Buy in a market that names its outcome',
  },
  noBook: {
    message: 'The market has no order book on Polymarket',
    resolution: 'Choose another market',
  },
  module: {
    message: 'Orders on this kind of Protocol V2 market are not supported',
    resolution: 'Choose another market',
  },
  negativeRisk: {
    message: 'Orders on negative-risk markets of Protocol V2 are switched off',
    resolution: 'Choose another market, or let the operator set POLYMARKET_V2_NEGATIVE_RISK to true',
  },
} as const satisfies Record<string, CheckRule>;

const RESTRICTED = 'The account is restricted: contact Polymarket.';

/** Rejections by Polymarket, the most specific first. A shortage of funds is explained in funds.ts. */
export const POLYMARKET_REJECTIONS: RejectionRules = {
  key: [
    {
      says: 'Could not derive api key!, Could not create api key',
      pattern: /could not (?:derive|create) api key/i,
      resolution:
        'Log in to Polymarket once with this wallet, or store api_key, api_secret and api_passphrase in the credential.',
    },
    {
      says: 'Invalid L1 Request headers',
      pattern: /L1 request/i,
      resolution:
        'Correct private_key. If it is correct, tell the operator: the clock of the server that runs this service must be right.',
    },
    { says: 'banned, closed only', pattern: /banned|closed only/i, resolution: RESTRICTED },
    {
      says: 'any other 401 or 403',
      pattern: /(?:)/,
      resolution: 'Renew the API key of the credential, or leave it out: the service derives one from the wallet.',
    },
  ],
  order: [
    {
      says: 'breaks minimum tick size rule: {tick}',
      pattern: /minimum tick size rule: (?<tick>\d[\d.]*)/i,
      resolution: 'Use a price that is a multiple of {tick}.',
    },
    {
      says: 'lower than the minimum: {least}',
      pattern: /lower than the minimum: (?<least>\d[\d.]*)/i,
      resolution: 'Use a size of {least} or more, or time_in_force ioc or fok.',
    },
    {
      says: 'invalid amount for a marketable BUY order, min size: ${least}',
      pattern: /marketable BUY order.*min size: \$(?<least>\d[\d.]*)/i,
      resolution:
        'A purchase that fills at once spends at least {least} pUSD: use a larger size, or a price below the best ask.',
    },
    {
      says: 'invalid amounts',
      pattern: /invalid amounts/i,
      resolution: 'Use a price and a size with the decimals in error_text.',
    },
    {
      says: 'order crosses book, crosses the book',
      pattern: /post-only order: order crosses|crosses the book/i,
      resolution: 'The order would trade at once: use a price that does not cross the book, or leave out post_only.',
    },
    {
      says: 'invalid post-only order',
      pattern: /post-only order/i,
      resolution: 'Use post_only with time_in_force gtc or gtd.',
    },
    {
      says: 'expiration',
      pattern: /expiration/i,
      resolution: 'Use an expiration at least 130 seconds ahead, or time_in_force gtc.',
    },
    {
      says: 'order_version_mismatch, invalid order version',
      pattern: /order.version/i,
      resolution:
        'Place the order again in some minutes, under a new idempotency key: Polymarket has moved the market to another exchange contract.',
    },
    {
      says: 'not yet ready, No orderbook exists',
      pattern: /not yet ready|no orderbook/i,
      resolution: 'The market does not trade now: choose another one.',
    },
    { says: 'banned, closed only', pattern: /banned|closed only/i, resolution: RESTRICTED },
    {
      says: 'use the deposit wallet flow',
      pattern: /deposit wallet/i,
      resolution: 'Use the deposit wallet: signature_type 3, with its address as funder.',
    },
    {
      says: 'the order signer address has to be the address of the API KEY',
      pattern: /signer address has to be/i,
      resolution:
        "Correct the credential. An older Safe needs signature_type 2, not 3. A deposit wallet works once it is deployed: log in to Polymarket with it. The funder is the address of that wallet, not the key's own. Leave out an API key of another wallet: the service derives one.",
    },
    {
      says: 'signature, signer, maker address, order owner, api key',
      pattern: /signature|signer|maker address|order owner|api key|unauthorized/i,
      resolution: 'Correct the credential: private_key, signature_type, funder and API key must belong together.',
    },
    {
      says: 'any other 400 or 404',
      pattern: /(?:)/,
      resolution: 'Correct the order according to error_text.',
    },
  ],
};
