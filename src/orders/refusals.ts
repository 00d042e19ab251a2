import { usdText } from '../core/decimal.ts';
import { platformName, type ApiError } from '../core/errors.ts';
import type { Platform } from '../core/model.ts';
import type { Limited } from './claims.ts';
import { refusedBy, type CheckRule } from '../platforms/refusal-rules.ts';

const SETTINGS = 'Change it at PATCH /v1/api/auth/order-settings';
const OWN = 'Store a credential of your own at POST /v1/api/auth/credentials';

/** Every 422 for an order that is the same on each platform; docs/orders.md lists them. `<platform>` is replaced by its name. */
export const REFUSALS = {
  noPlatform: { message: '<platform> takes no orders here', resolution: 'Use another platform' },
  noCredential: {
    message: 'No credential for <platform>',
    resolution: 'Store one at POST /v1/api/auth/credentials',
  },
  credentialRejected: {
    message: '<platform> rejected the credential',
    resolution: 'Renew the key, or check whether its scope, region and account allow orders',
  },
  marketClosed: { message: 'The market takes no orders', resolution: 'Choose a market whose status is open' },
  noBook: { message: 'The market has no order book', resolution: 'Choose a market that trades in an order book' },
  emptyBook: {
    message: 'The book offers nothing at any price',
    resolution: 'Use a limit order, which waits for an offer',
  },
  outOfReach: {
    message: 'The book offers nothing within the worst price',
    resolution: 'Raise max_slippage, change price, or use a limit order',
  },
  notOffered: {
    message: 'The book offers nothing within the price',
    resolution: 'Change price, or use time_in_force gtc to wait for an offer',
  },
  notWhole: {
    message: 'The book cannot fill the whole order',
    resolution: 'Use ioc, a smaller size or amount, or a worse price',
  },
  amountTooSmall: { message: 'The amount is too small', resolution: 'Use a larger amount' },
  noReduction: {
    message: 'A purchase does not reduce a position on <platform>',
    resolution: 'Sell the outcome that you hold, or leave out reduce_only',
  },
  overPosition: {
    message: 'The order would do more than reduce the position',
    resolution: 'Use at most the size that open orders leave of the position, or leave out reduce_only',
  },
  tradingOff: { message: 'Trading is switched off in this account', resolution: SETTINGS },
  overOrder: { message: "The order exceeds the account's own limit", resolution: SETTINGS },
  overDay: { message: "The order exceeds the account's daily limit", resolution: SETTINGS },
  operatorOff: { message: "Trading through this server's default clients is switched off", resolution: OWN },
  operatorOrder: {
    message: "The order is over the operator's limit",
    resolution: `Place a smaller order. ${OWN}`,
  },
  otherAccount: {
    message: '<platform> does not know the order under this credential',
    resolution: "The order's credential was deleted. Store one of the same account",
  },
} as const satisfies Record<string, CheckRule>;

/** The 422 of a rule; `values` lists what is accepted. */
export const refused = (rule: keyof typeof REFUSALS, errorText = '', values = ''): ApiError =>
  refusedBy(REFUSALS[rule], errorText, values);

/** The 422 of a rule that names the platform. */
export function refusedOn(platform: Platform, rule: keyof typeof REFUSALS, errorText = ''): ApiError {
  const { message, resolution } = REFUSALS[rule];
  return refusedBy({ message: message.replace('<platform>', platformName(platform)), resolution }, errorText);
}

/** The 422 for an order of `notional` USD that a limit forbids. */
export function limitRefusal({ reason, most, spent }: Limited, notional: string): ApiError {
  const allowed = `the order can cost ${notional} USD; at most ${usdText(most)} USD are allowed`;
  switch (reason) {
    case 'trading_off':
      return refused('tradingOff');
    case 'order':
      return refused('overOrder', allowed);
    case 'day': {
      const today = `today's orders can cost ${usdText(spent)} USD and this one ${notional}; at most ${usdText(most)} USD are allowed`;
      return refused('overDay', today);
    }
    case 'operator_off':
      return refused('operatorOff');
    case 'operator_order':
      return refused('operatorOrder', allowed);
  }
}
