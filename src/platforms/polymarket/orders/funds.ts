import { z } from 'zod';
import { systemClock } from '../../../core/time.ts';
import { USD_SCALE, decimalText, type Usd } from '../../../core/decimal.ts';
import { PlatformError } from '../../../core/errors.ts';
import { parseBody } from '../../parse-rows.ts';
import type { PolymarketAccount } from '../signed-client.ts';
import { withFacts } from '../../refusal-rules.ts';
import { spenderName, type Exchange } from './exchanges.ts';
import type { WireOrder } from './signing.ts';

const PATH = '/balance-allowance';
/** The caller waits for the two calls in addition to the rejection. */
const TIMEOUT_MS = 2000;

const baseUnits = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform(BigInt);
/** Reply to GET /balance-allowance: whole base units ×10^6, allowances by spending contract. */
const Funds = z.object({
  balance: baseUnits,
  allowances: z
    .record(z.string(), baseUnits)
    .nullish()
    .transform((value) => new Map(Object.entries(value ?? {}).map(([spender, most]) => [spender.toLowerCase(), most]))),
});
export type Funds = z.output<typeof Funds>;

/** pUSD, or the shares of one outcome. */
export type Asset = { asset_type: 'COLLATERAL' } | { asset_type: Exchange['assetType']; token_id: string };

/** Names an asset of a wallet. */
export const assetOf = ({ wallet: { owner, signatureType, funder } }: PolymarketAccount, asset: Asset): string =>
  JSON.stringify([owner, signatureType, funder, asset]);

/** Shortages of funds, and what helps. docs/orders.md lists these rows. */
export const FUNDS_HELP = {
  money: {
    says: 'the allowance is not enough, of a purchase',
    help: "Let the wallet approve {spender} to spend the wallet's pUSD ({needed} needed, {allowed} allowed).",
  },
  shares: {
    says: 'the allowance is not enough, of a sale',
    help: "Let the wallet approve {spender} for the wallet's shares, with setApprovalForAll of {contract} ({needed} needed, {allowed} allowed).",
  },
  balance: {
    says: 'the balance is not enough',
    help: 'Fund the wallet, or use a smaller size: it holds {held} {asset}, and {needed} are needed, open orders included.',
  },
  stale: {
    says: 'one of these, and after another read it is enough',
    help: 'Place the order again, under a new idempotency key: Polymarket had an old reading of the wallet, and now reads {held} {asset}.',
  },
  reserved: {
    says: 'no amounts, and the wallet holds enough',
    help: 'Fund the wallet, or use a smaller size: it holds {held} {asset}, of which open orders reserve a part.',
  },
  unread: {
    says: 'no amounts, and the wallet cannot be read',
    help: 'Fund the wallet with {asset}, and let it approve the exchange contract {spender}: GET /v1/api/balances shows what is missing.',
  },
} as const;

/** The amounts in a text on a shortage; null if it does not state them. */
interface Stated {
  spender: string | null;
  allowed: bigint | null;
  balance: bigint | null;
  /** The sum for the order and the orders before it. */
  needed: bigint | null;
}

/** Parts of "the allowance is not enough -> spender: 0x…, allowance: 0, sum of matched orders: 0, order amount (inc. fees): 5024990". */
function statedIn(words: string): Stated {
  const number = (pattern: RegExp): bigint | null => {
    const digits = pattern.exec(words)?.[1];
    return digits === undefined ? null : BigInt(digits);
  };
  const amount = number(/order amount[^:]*: (\d{1,78})/i);
  const others = [...words.matchAll(/sum of \w+ orders: (\d{1,78})/gi)].map(([, digits]) => BigInt(digits ?? 0));
  return {
    spender: /spender: (0x[0-9a-f]{40})/i.exec(words)?.[1] ?? null,
    allowed: number(/\ballowance: (\d{1,78})/i),
    balance: number(/\bbalance: (\d{1,78})/i),
    needed: amount === null ? null : others.reduce((sum, one) => sum + one, amount),
  };
}

/** Advice on "not enough balance / allowance". The CLOB may have an old reading: it is asked to read the wallet again first. */
export async function fundsAdvice(
  account: PolymarketAccount,
  { domain: { verifyingContract }, shares, assetType }: Exchange,
  { side, tokenId, makerAmount }: WireOrder,
  words: string,
): Promise<string> {
  const buys = side === 'BUY';
  const stated = statedIn(words);
  const funds = await readAgain(
    account,
    buys ? { asset_type: 'COLLATERAL' } : { asset_type: assetType, token_id: tokenId },
  );
  const spender = stated.spender ?? verifyingContract;
  const needed = stated.needed ?? BigInt(makerAmount);
  const allowed = funds?.allowances.get(spender.toLowerCase()) ?? null;
  const held = funds?.balance ?? stated.balance;
  const asset = buys ? 'pUSD' : 'shares of the outcome';
  const help = (row: keyof typeof FUNDS_HELP): string =>
    withFacts(FUNDS_HELP[row].help, {
      spender,
      asset,
      contract: shares,
      needed: units(needed),
      held: held === null ? undefined : units(held),
      allowed: units(allowed ?? stated.allowed ?? 0n),
    });
  const approve = help(buys ? 'money' : 'shares') + named(spender);
  if (stated.allowed !== null) return allowed !== null && allowed >= needed ? help('stale') : approve;
  if (stated.balance !== null) {
    return funds !== null && funds.balance >= needed ? help('stale') : help('balance');
  }
  if (funds === null || allowed === null) return help('unread');
  return allowed < needed ? approve : help(funds.balance < needed ? 'balance' : 'reserved');
}

const units = (amount: Usd): string => decimalText(amount, USD_SCALE);

function named(spender: string): string {
  const name = spenderName(spender);
  return name === null ? '' : ` The spender is Polymarket's ${name}.`;
}

/** Asks the CLOB to read the wallet again. Returns its balance and allowances of an asset; null without an answer in time. */
async function readAgain(account: PolymarketAccount, asset: Asset): Promise<Funds | null> {
  const signal = systemClock.deadline(TIMEOUT_MS);
  await refreshFunds(account, asset, signal);
  return unlessFailed(readFunds(account, asset, signal));
}

/** Asks the CLOB to read the wallet's balance and allowances of an asset again. A failure is ignored: the reading stays old. */
export const refreshFunds = (account: PolymarketAccount, asset: Asset, signal: AbortSignal): Promise<unknown> =>
  unlessFailed(account.balance({ ...asset }, { signal, update: true }));

/** What the CLOB reads of an asset. */
export async function readFunds(account: PolymarketAccount, asset: Asset, signal?: AbortSignal): Promise<Funds> {
  const reply = await account.balance({ ...asset }, { signal });
  return parseBody('polymarket', Funds, reply, PATH);
}

const unlessFailed = <T>(answer: Promise<T>): Promise<T | null> =>
  answer.catch((error: unknown) => {
    if (error instanceof PlatformError) return null;
    throw error;
  });
