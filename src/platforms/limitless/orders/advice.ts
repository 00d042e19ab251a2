import type { PlatformError } from '../../../core/errors.ts';

/** Whether the text of a rejection shows that the order was signed for the wrong exchange. */
export const speaksOfExchange = (words: string): boolean => /exchange address/i.test(words);
export const speaksOfProfile = (words: string): boolean => /feeRateBps|wallet|ownerId|signer|maker/i.test(words);

const AGAIN = 'Place the order again under a new idempotency key';

/** Advice on a rejection, by Limitless's text. */
export function refusalHelp({ kind, detail }: PlatformError): string {
  if (kind === 'unauthorized') {
    return 'Renew the API token; it needs the scope trading, and a clock that is right within 30 s. Some regions may not trade.';
  }
  if (speaksOfExchange(detail)) return `${AGAIN}: the contract it is signed for is read again.`;
  if (/feeRateBps/.test(detail)) return `${AGAIN}: the fee rate of the account is read again.`;
  if (/allowance/i.test(detail)) {
    return "Approve the market's exchange contract on Base: USDC to buy; the outcome tokens to sell (and its adapter, if it has one).";
  }
  if (/balance/i.test(detail)) return 'Fund the wallet that trades: USDC on Base to buy, outcome tokens to sell.';
  if (/deadline|not active|not found/i.test(detail)) return 'Choose a market that is open.';
  if (/wallet|signer|maker/i.test(detail))
    return 'Store the key of the wallet that the account trades from, or switch the account to its own wallet.';
  return 'Correct the order according to error_text.';
}
