import { PlatformError } from '../../../core/errors.ts';
import type { Placement } from '../../order-contract.ts';
import { failedPlacement } from '../../failed-placement.ts';
import type { StoredMarket } from '../../contract.ts';
import { parseBody } from '../../parse-rows.ts';
import type { Exchange } from './exchanges.ts';
import { fundsAdvice } from './funds.ts';
import type { PolymarketAccount } from '../signed-client.ts';
import { ClobPlaced } from './rows.ts';
import type { WireOrder } from './signing.ts';
import { killedOrder, mapPlaced, type Asked } from './state.ts';

const PATH = '/order';
/** An ioc or fok order without a match: accepted, and ended. */
const KILLED = /FOK orders are fully filled or killed|no orders found to match with FAK order/i;
/** Not enough money or shares, or not approved for the exchange: the text is the same. */
const SHORT = /not enough balance|allowance/i;
/** These signed bytes were accepted before. */
const DUPLICATE = /\bduplicated\b/i;

/** A signed order, with what is needed to parse its reply. */
export interface SignedOrder {
  body: string;
  order: WireOrder;
  exchange: Exchange;
  asked: Asked;
  market: StoredMarket;
}

/** Sends a signed order, once. */
export async function placeOrder(
  account: PolymarketAccount,
  signed: SignedOrder,
  now: () => number,
): Promise<Placement> {
  const { body, asked, market } = signed;
  try {
    const reply = await account.send({ method: 'POST', path: PATH, body });
    const placed = parseBody('polymarket', ClobPlaced, reply, PATH);
    // `success` may be true all the same.
    if (!placed.success || placed.errorMsg !== '' || placed.orderID === '') {
      const said = { status: 400, detail: placed.errorMsg || 'refused without a reason', body: reply.json };
      const refused = new PlatformError('polymarket', 'refused', said);
      return { ...(await failed(refused, account, signed, now)), httpStatus: reply.status };
    }
    const order = mapPlaced(asked, placed, market, reply.receivedAt);
    return { result: 'accepted', httpStatus: reply.status, detail: placed.status, order };
  } catch (error) {
    return failed(error, account, signed, now);
  }
}

async function failed(
  error: unknown,
  account: PolymarketAccount,
  { asked, exchange, order }: SignedOrder,
  now: () => number,
): Promise<Placement> {
  if (error instanceof PlatformError && error.status === 400) {
    const seen = { httpStatus: error.status, detail: error.detail };
    if (KILLED.test(error.detail)) {
      return { result: 'accepted', ...seen, order: killedOrder(asked, new Date(now()).toISOString()) };
    }
    if (DUPLICATE.test(error.detail)) return { result: 'unknown', ...seen };
    if (SHORT.test(error.detail)) {
      const help = await fundsAdvice(account, exchange, order);
      return failedPlacement('polymarket', error, () => help);
    }
  }
  return failedPlacement('polymarket', error, advice);
}

/** Advice on a rejection, by Polymarket's text. */
function advice(words: string): string {
  if (/tick size|lower than the minimum|invalid amounts|min size/i.test(words)) {
    return 'Use the price step and the minimum size in error_text.';
  }
  if (/expiration/i.test(words)) return 'Use a later expiration.';
  if (/deposit wallet/i.test(words)) return 'Use the deposit wallet: signature_type 3, with its address as funder.';
  if (/order version/i.test(words))
    return 'Report this: Polymarket now trades this market on another exchange contract.';
  if (/signature|signer|maker address|order owner/i.test(words)) {
    return 'Correct the credential: private_key, signature_type, funder and API key must belong together.';
  }
  if (/api key|unauthorized|L1 request/i.test(words)) {
    return 'Renew the API key of the credential, or leave it out to have it derived from the wallet.';
  }
  if (/banned|closed only/i.test(words)) return 'The account is restricted: contact Polymarket.';
  if (/not yet ready|no orderbook/i.test(words)) return 'The market is not trading.';
  return 'Correct the order according to error_text.';
}
