import type { Address } from 'viem';
import { getAddress } from 'viem/utils';
import { Cache } from '../../../core/cache.ts';
import type { ApiError } from '../../../core/errors.ts';
import { refusedBy } from '../../refusal-rules.ts';
import type { AdapterDeps, StoredMarket } from '../../contract.ts';
import { parseBody } from '../../parse-rows.ts';
import { walletAddress } from '../../evm/wallet-address.ts';
import { accountOf, type AccountClient, type LimitlessAccess } from '../signed-client.ts';
import type { LimitlessCredential } from '../credential.ts';
import { createLimitlessClient } from '../client.ts';
import type { LimitlessUrl } from '../manifest.ts';
import { LIMITLESS_CHECKS } from './advice.ts';
import { LimitlessProfile, LimitlessVenue } from './rows.ts';
import type { SignedPart } from '../sign.ts';
import { HOUR_MS } from '../../../core/time.ts';

/** The rate that the official client signs if the profile has none. */
const DEFAULT_FEE_RATE_BPS = 300;
/** Limitless bans addresses that read profiles too often. */
const PROFILE_TRUSTED_MS = 60_000;

/** The part of a signed order that depends on the account, and the owner id sent along with it. */
export type Signatory = Pick<SignedPart, 'maker' | 'signer' | 'signatureType' | 'feeRateBps'> & { ownerId: number };

/** Account and market facts needed to sign an order; read rarely, cached in memory. */
export class SigningFacts {
  readonly #account: AccountClient;
  readonly #public: ReturnType<typeof createLimitlessClient>;
  readonly #profiles: Cache<string, { profile: LimitlessProfile; readAtMs: number }>;
  readonly #exchanges: Cache<string, Address>;
  readonly #now: () => number;

  constructor(deps: AdapterDeps<LimitlessUrl>, account: AccountClient) {
    this.#account = account;
    this.#public = createLimitlessClient(deps);
    this.#now = deps.now;
    this.#profiles = new Cache({ limit: 1000, ttlMs: HOUR_MS, now: deps.now });
    this.#exchanges = new Cache({ limit: 10_000, ttlMs: 24 * HOUR_MS, now: deps.now });
  }

  /** Throws ApiError 422 if the stored wallet key cannot sign for the token's account. */
  async signatory(access: LimitlessAccess): Promise<Signatory> {
    const { credential, priority, guest } = access;
    const { profile } = await this.#profiles.read(accountOf(credential), async () => {
      const readAtMs = this.#now();
      const call = { circuit: 'account', method: 'GET', path: '/profiles/me', retry: true, forOrder: true } as const;
      // Other callers wait for the same answer, so this caller's signal must not abort it.
      const reply = await this.#account(call, { credential, priority, guest });
      return { profile: parseBody('limitless', LimitlessProfile, reply, 'profiles/me'), readAtMs };
    });
    const key = walletAddress(credential.private_key);
    const smart = profile.tradeWalletOption === 'smartWallet';
    const signer = smart ? profile.embeddedAccount : profile.account;
    const maker = smart ? profile.smartWallet : profile.account;
    if (!signer || !maker || getAddress(signer) !== key) throw wrongKey(key, smart, signer);
    return {
      ownerId: profile.id,
      maker: getAddress(maker),
      signer: key,
      signatureType: smart ? 2 : 0,
      feeRateBps: profile.rank?.feeRateBps ?? DEFAULT_FEE_RATE_BPS,
    };
  }

  /** The contract for which this market's orders are signed; throws ApiError 422 if there is none. */
  async exchange(market: StoredMarket, { priority, user, onBadRow }: LimitlessAccess): Promise<Address> {
    return this.#exchanges.read(market.ref, async () => {
      const path = `/markets/${encodeURIComponent(market.ref)}`;
      const reply = await this.#public.get(path, {}, { priority, user, forOrder: true, onBadRow });
      const { venue } = parseBody('limitless', LimitlessVenue, reply, 'markets/{slug}');
      // Not cached: one reply without a venue must not block the market's orders for a day.
      if (!venue) throw refusedBy(LIMITLESS_CHECKS.noExchange);
      return getAddress(venue.exchange);
    });
  }

  /** A rejection indicated a wrong exchange: the next order reads it again. */
  doubtExchange(market: StoredMarket): void {
    this.#exchanges.delete(market.ref);
  }

  /** A rejection indicated a wrong fee rate or wallet: one of the next orders reads the profile again. */
  doubtProfile(credential: LimitlessCredential): void {
    const key = accountOf(credential);
    const kept = this.#profiles.get(key);
    if (kept) this.#profiles.set(key, kept, { ttlMs: kept.readAtMs + PROFILE_TRUSTED_MS - this.#now() });
  }
}

function wrongKey(key: Address, smart: boolean, signer: string | null | undefined): ApiError {
  const rule = smart ? LIMITLESS_CHECKS.smartWallet : LIMITLESS_CHECKS.otherWallet;
  return refusedBy(rule, `the key signs as ${key}, the account expects ${signer ?? 'a wallet it does not name'}`);
}
