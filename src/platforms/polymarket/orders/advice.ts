import type { PlatformError } from '../../../core/errors.ts';

/** What a refusal of an order concerns. */
type Concern = 'funds' | 'order' | 'market' | 'credential' | 'account';

/** A refusal in Polymarket's words, with what helps. docs/orders.md lists these rows. */
export interface KnownRefusal {
  concern: Concern;
  /** Polymarket's text; its groups are the facts that `help` repeats. */
  pattern: RegExp;
  /** The text as the guide shows it. */
  says: string;
  help: string;
}

/** Rows in the order in which they are tried. Shortages of funds are explained in funds.ts, from more facts. */
export const KNOWN_REFUSALS: readonly KnownRefusal[] = [
  {
    concern: 'order',
    pattern: /breaks minimum tick size rule: (?<tick>[\d.]+)/i,
    says: 'Price (…) breaks minimum tick size rule: {tick}',
    help: 'Use a price that is a multiple of {tick}.',
  },
  {
    concern: 'order',
    pattern: /lower than the minimum: (?<least>[\d.]+)/i,
    says: 'Size (…) lower than the minimum: {least}',
    help: 'Use a size of {least} or more, or time_in_force ioc or fok.',
  },
  {
    concern: 'order',
    pattern: /marketable BUY order.*min size: \$(?<least>[\d.]+)/i,
    says: 'invalid amount for a marketable BUY order (…), min size: ${least}',
    help: 'A purchase that fills at once spends at least {least} pUSD: use a larger size, or a price below the best ask.',
  },
  {
    concern: 'order',
    pattern: /invalid amounts/i,
    says: 'invalid amounts, …',
    help: 'Use a price and a size with the decimals in error_text.',
  },
  {
    concern: 'order',
    pattern: /post-only order: order crosses/i,
    says: 'invalid post-only order: order crosses book',
    help: 'The order would trade at once: use a price that does not reach the other side of the book, or leave post_only out.',
  },
  {
    concern: 'order',
    pattern: /invalid post-only order/i,
    says: 'invalid post-only order: …',
    help: 'Use post_only with time_in_force gtc or gtd.',
  },
  {
    concern: 'order',
    pattern: /expiration/i,
    says: 'invalid expiration',
    help: 'Use an expiration 120 seconds ahead or more, or time_in_force gtc.',
  },
  {
    concern: 'market',
    pattern: /order.version/i,
    says: 'order_version_mismatch, or invalid order version, …',
    help: 'Polymarket has moved the market to another exchange contract. Place the order again in some minutes, under a new idempotency key.',
  },
  {
    concern: 'market',
    pattern: /not yet ready|no orderbook/i,
    says: 'the market is not yet ready to process new orders, or No orderbook exists …',
    help: 'The market is not trading: choose another one.',
  },
  {
    concern: 'account',
    pattern: /banned|closed only/i,
    says: '… address banned, or in closed only mode',
    help: 'The account is restricted: contact Polymarket.',
  },
  {
    concern: 'credential',
    pattern: /deposit wallet/i,
    says: 'maker address not allowed, please use the deposit wallet flow',
    help: 'Use the deposit wallet: signature_type 3, with its address as funder.',
  },
  {
    concern: 'credential',
    pattern: /could not (derive|create) api key/i,
    says: 'Could not derive api key!, or Could not create api key',
    help: 'Log in to Polymarket once with this wallet, or store api_key, api_secret and api_passphrase in the credential.',
  },
  {
    concern: 'credential',
    pattern: /L1 request/i,
    says: 'Invalid L1 Request headers',
    help: 'Correct private_key. If it is correct, the clock of this server is wrong: let the operator set it.',
  },
  {
    concern: 'credential',
    pattern: /signature|signer|maker address|order owner/i,
    says: 'invalid signature, or the order signer address has to be …, or the order owner has to be …',
    help: 'Correct the credential: private_key, signature_type, funder and API key must belong together.',
  },
  {
    concern: 'credential',
    pattern: /api key|unauthorized/i,
    says: 'Unauthorized/Invalid api key',
    help: 'Renew the API key of the credential, or leave it out to have it derived from the wallet.',
  },
];

/** For texts that no row knows. */
export const OTHER_REFUSAL = 'Correct the order according to error_text.';

/** What helps against a refusal: by its kind, then by its text. */
export function adviceOn({ kind, detail }: Pick<PlatformError, 'kind' | 'detail'>): string {
  const denied = kind === 'unauthorized';
  const rows = denied ? KNOWN_REFUSALS.filter(({ concern }) => CONCERNS_ACCESS.has(concern)) : KNOWN_REFUSALS;
  for (const { pattern, help } of rows) {
    const found = pattern.exec(detail);
    if (found) return withFacts(help, found.groups ?? {});
  }
  return denied ? DENIED : OTHER_REFUSAL;
}

const CONCERNS_ACCESS: ReadonlySet<Concern> = new Set(['credential', 'account']);
const DENIED = 'Renew the API key of the credential, or leave it out to have it derived from the wallet.';

/** "{name}" in a text becomes the fact of that name. */
export const withFacts = (text: string, facts: Record<string, string | undefined>): string =>
  text.replaceAll(/\{(\w+)\}/g, (all, name: string) => facts[name] ?? all);
