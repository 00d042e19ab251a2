import { usdText } from '../core/decimal.ts';
import type { ApiError } from '../core/errors.ts';
import { orderRefused } from '../platforms/failed-placement.ts';
import type { Limited } from './claims.ts';

const CHANGE = 'Change it at PATCH /v1/api/auth/order-settings.';
const OWN = 'Store a credential of your own at POST /v1/api/auth/credentials.';

/** The 422 for an order of `notional` USD that a limit forbids. */
export function limitRefusal({ reason, most, spent }: Limited, notional: string): ApiError {
  const allowed = `the order is worth ${notional} USD, at most ${usdText(most)} are allowed`;
  switch (reason) {
    case 'trading_off':
      return orderRefused('Trading is switched off in this account', CHANGE);
    case 'order':
      return orderRefused("The order exceeds the account's own limit", CHANGE, allowed);
    case 'day': {
      const today = `orders of ${usdText(spent)} USD today, this one is worth ${notional}, at most ${usdText(most)} are allowed`;
      return orderRefused("The order exceeds the account's daily limit", CHANGE, today);
    }
    case 'operator_off':
      return orderRefused("Trading through this server's default clients is switched off", OWN);
    case 'operator_order':
      return orderRefused("The order is over the operator's limit", `Place a smaller order. ${OWN}`, allowed);
  }
}
