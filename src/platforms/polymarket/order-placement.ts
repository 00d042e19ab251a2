import { PlatformError } from '../../errors.ts';
import type { Placement } from '../orders.ts';
import { failedPlacement } from '../placement.ts';
import type { MarketKeys } from '../platform.ts';
import { parseBody } from '../rows.ts';
import type { PolymarketAccount } from './account.ts';
import { ClobPlaced } from './order-rows.ts';
import { killedOrder, mapPlaced, type Asked } from './order-state.ts';

const PATH = '/order';
/** An order that fills at once and found nothing: taken, and over. */
const KILLED = /FOK orders are fully filled or killed|no orders found to match with FAK order/i;
/** These signed bytes were accepted before. */
const DUPLICATE = /\bduplicated\b/i;

/** Sends a signed order, once. */
export async function placeOrder(
  account: PolymarketAccount,
  body: string,
  asked: Asked,
  market: MarketKeys,
  now: () => number,
): Promise<Placement> {
  try {
    const reply = await account.send({ method: 'POST', path: PATH, body });
    const placed = parseBody('polymarket', ClobPlaced, reply, PATH);
    // `success` may be true all the same.
    if (!placed.success || placed.errorMsg !== '' || placed.orderID === '') {
      const said = { status: 400, detail: placed.errorMsg || 'refused without a reason', body: reply.json };
      return { ...failed(new PlatformError('polymarket', 'refused', said), asked, now), httpStatus: reply.status };
    }
    const order = mapPlaced(asked, placed, market, reply.receivedAt);
    return { fate: 'accepted', httpStatus: reply.status, detail: placed.status, order };
  } catch (error) {
    return failed(error, asked, now);
  }
}

function failed(error: unknown, asked: Asked, now: () => number): Placement {
  if (error instanceof PlatformError && error.status === 400) {
    const told = { httpStatus: error.status, detail: error.detail };
    if (KILLED.test(error.detail)) {
      return { fate: 'accepted', ...told, order: killedOrder(asked, new Date(now()).toISOString()) };
    }
    if (DUPLICATE.test(error.detail)) return { fate: 'unknown', ...told };
  }
  return failedPlacement('polymarket', error, advice);
}

/** What helps against a refusal, by Polymarket's words. */
function advice(words: string): string {
  if (/not enough balance|allowance/i.test(words)) {
    return "Fund the wallet, and approve the market's exchange contract to move its pUSD and shares.";
  }
  if (/tick size|lower than the minimum|invalid amounts|min size/i.test(words)) {
    return 'Use the price step and the minimum size that the text names.';
  }
  if (/expiration/i.test(words)) return 'Let it expire later.';
  if (/deposit wallet/i.test(words)) return 'Use the deposit wallet: signature_type 3, with its address as funder.';
  if (/signature|signer|maker address|order owner|order version/i.test(words)) {
    return 'Correct the credential: private_key, signature_type, funder and API key must belong together.';
  }
  if (/api key|unauthorized|L1 request/i.test(words)) {
    return 'Renew the API key of the credential, or leave it out to have it derived from the wallet.';
  }
  if (/banned|closed only/i.test(words)) return 'The account is restricted: contact Polymarket.';
  if (/not yet ready|no orderbook/i.test(words)) return 'The market does not trade now.';
  return 'Correct the order as the text says.';
}
