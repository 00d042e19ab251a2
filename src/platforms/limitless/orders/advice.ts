import type { CheckRule, RejectionRules } from '../../refusal-rules.ts';

/** Refusals before an order is signed. */
export const LIMITLESS_CHECKS = {
  fok: {
    message: 'Limitless takes no fok order with a price: its fill-or-kill orders trade at any price',
    resolution: 'Use ioc, which keeps the worst price and cancels what it cannot fill, or gtc',
  },
  gtd: {
    message: 'Limitless orders cannot expire (gtd)',
    resolution: 'Use gtc and cancel the order, or ioc',
  },
  price: {
    message: 'Limitless accepts prices in steps of 0.001',
    resolution: 'Use one of the nearest valid prices',
  },
  size: {
    message: 'Limitless accepts sizes in steps of 0.001 shares',
    resolution: 'Use one of the nearest valid sizes',
  },
  tooLarge: {
    message: 'The order is too large for Limitless',
    resolution: 'Lower the size',
  },
  noBook: {
    message: 'This Limitless market has no order book',
    resolution: 'Choose a market with an order book',
  },
  noExchange: {
    message: 'This Limitless market has no exchange contract',
    resolution: 'Try again, or choose another market',
  },
  otherWallet: {
    message: 'The stored Limitless wallet key cannot sign for the account of its token',
    resolution: 'Store the private key of the wallet that the token belongs to',
  },
  smartWallet: {
    message: 'The stored Limitless wallet key cannot sign for the smart wallet of its token',
    resolution:
      'The account trades from its smart wallet: switch it to its own wallet in the Limitless settings, or store the key that signs for it',
  },
} as const satisfies Record<string, CheckRule>;

const AGAIN = 'Place the order again under a new idempotency key';

/** Rejections by Limitless, the most specific first. */
export const LIMITLESS_REJECTIONS: RejectionRules = {
  key: [
    {
      says: 'timestamp',
      pattern: /timestamp|clock|expired/i,
      resolution:
        'Retry; if it happens again, tell the operator: the clock of the server that runs this service must be right within 30 s.',
    },
    {
      says: 'scope',
      pattern: /scope|permission/i,
      resolution: 'Use an API token with the scope trading.',
    },
    {
      says: 'region, country, restricted',
      pattern: /region|countr|jurisdiction|restricted|geo/i,
      resolution: 'Limitless does not let this account trade from this region.',
    },
    {
      says: 'any other 401 or 403',
      pattern: /(?:)/,
      resolution:
        'Renew the API token and store its id and secret; it needs the scope trading, and the clock of the server that runs this service must be right within 30 s.',
    },
  ],
  order: [
    {
      says: 'Exchange address for this market',
      pattern: /exchange address/i,
      resolution: `${AGAIN}: the service reads again which contract it signs for.`,
    },
    {
      says: 'feeRateBps',
      pattern: /feeRateBps/i,
      resolution: `${AGAIN}: the service reads the fee rate of the account again.`,
    },
    {
      says: 'Insufficient conditional token allowance',
      pattern: /token.{0,20}allowance/i,
      resolution:
        "Approve the market's exchange contract on Base (and its adapter, if it has one) for the outcome tokens.",
    },
    {
      says: 'Insufficient collateral allowance',
      pattern: /allowance/i,
      resolution: "Approve the market's exchange contract on Base to spend USDC.",
    },
    {
      says: 'Insufficient conditional token balance',
      pattern: /token.{0,20}balance/i,
      resolution:
        'Fund the wallet, or sell at most what it holds: a purchase brings received_size, which is filled_size less the fee, and open sales reserve a part.',
    },
    {
      says: 'Insufficient collateral balance',
      pattern: /balance|insufficient/i,
      resolution: 'Fund the wallet that trades with USDC on Base, or lower the size; open purchases reserve a part.',
    },
    {
      says: 'Post-only order would match',
      pattern: /post.?only/i,
      resolution: 'The order would trade at once: use a price that does not cross the book, or leave out post_only.',
    },
    {
      says: 'self trade, STP',
      pattern: /self.?(?:trade|trading|match)|\bstp/i,
      resolution:
        'The order would trade with an open order of the account: cancel that order, or use another self_trade_prevention.',
    },
    {
      says: 'tick violation, price, makerAmount',
      pattern: /tick|\bprice\b|(?:maker|taker)Amount/i,
      resolution: 'Use a price in steps of 0.001 and a size in steps of 0.001 shares.',
    },
    {
      says: 'deadline, not active, not found',
      pattern: /deadline|not active|not found|\bAMM\b|group market/i,
      resolution: 'Choose a market that is open.',
    },
    {
      says: 'ownerId, trade wallet, signer, maker',
      pattern: /ownerId|wallet|signer|\bmaker\b|signature/i,
      resolution:
        'Store the key of the wallet that the account trades from, or switch the account to its own wallet; the service reads the account again.',
    },
    {
      says: 'any other 400',
      pattern: /(?:)/,
      resolution: 'Correct the order according to error_text.',
    },
  ],
};

/** Whether the text of a rejection shows that the order was signed for the wrong exchange. */
export const speaksOfExchange = (words: string): boolean => /exchange address/i.test(words);
export const speaksOfProfile = (words: string): boolean => /feeRateBps|wallet|ownerId|signer|\bmaker\b/i.test(words);
