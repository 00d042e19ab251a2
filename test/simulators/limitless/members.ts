import { privateKeyToAccount } from 'viem/accounts';
import type { Rng } from '../lib/index.ts';
import { NEG_RISK_VENUE, PLAIN_VENUE } from './catalog.ts';
import type { Ids } from './ids.ts';
import type { Account, AmmMarket, ClobMarket, Outcome, Side } from './model.ts';

/** What somebody holds of one token; all in base units. */
export interface Holding {
  balance: bigint;
  /** What the balance cost. */
  cost: bigint;
  realised: bigint;
}

/** What somebody holds of one outcome of a pool, in base units of shares and of collateral. */
export interface PoolHolding {
  market: AmmMarket;
  outcome: Outcome;
  shares: bigint;
  collateral: bigint;
}

/** One line of /portfolio/history, newest last. */
export type HistoryEntry =
  | {
      kind: 'trade';
      at: number;
      market: ClobMarket;
      outcome: Outcome;
      strategy: `${'Limit' | 'Market'} ${'Buy' | 'Sell'}`;
      contracts: bigint;
      usd: bigint;
      txHash: string;
      orderId: string;
      tradeEventId: string;
    }
  | {
      kind: 'settlement';
      at: number;
      market: ClobMarket;
      outcome: Outcome;
      contracts: bigint;
      cost: bigint;
      pnl: bigint;
    };

/** Somebody with an API token. Balances and approvals are those of the wallet that makes his orders. */
export interface Profile extends Account {
  tokenId: string;
  /** Base64, as the platform hands it out. */
  secret: string;
  scopes: string[];
  feeRateBps: number;
  tradeWalletOption: 'eoa' | 'smartWallet' | null;
  smartWallet: `0x${string}` | null;
  embeddedAccount: `0x${string}` | null;
  /** USDC base units, those behind live orders included. */
  usdc: bigint;
  holdings: Map<string, Holding>;
  pools: PoolHolding[];
  /** USDC base units each exchange may take; absent = none. */
  usdcAllowances: Map<string, bigint>;
  /** Contracts that may move his outcome tokens. */
  tokenApprovals: Set<string>;
  history: HistoryEntry[];
}

export type ProfileSpec = ({ privateKey: `0x${string}` } | { address: `0x${string}` }) &
  Partial<
    Pick<
      Profile,
      'tokenId' | 'secret' | 'scopes' | 'feeRateBps' | 'tradeWalletOption' | 'smartWallet' | 'embeddedAccount' | 'usdc'
    >
  >;

const AMPLE = 10n ** 15n;

/** Everybody who may call the private side. */
export class Members {
  private readonly rng: Rng;
  private readonly ids: Ids;
  private readonly byToken = new Map<string, Profile>();
  private readonly byAddress = new Map<string, Profile>();

  constructor(rng: Rng, ids: Ids) {
    this.rng = rng;
    this.ids = ids;
  }

  /** Defaults: 10,000 USDC, every exchange approved, trading scope, Bronze. */
  add(spec: ProfileSpec): Profile {
    const address = 'privateKey' in spec ? privateKeyToAccount(spec.privateKey).address : spec.address;
    const profile: Profile = {
      id: this.ids.account(),
      address,
      username: null,
      displayName: address,
      isPublic: true,
      tokenId: spec.tokenId ?? this.ids.uuid(),
      secret: spec.secret ?? Buffer.from(this.rng.hex(64), 'hex').toString('base64'),
      scopes: spec.scopes ?? ['trading'],
      feeRateBps: spec.feeRateBps ?? 300,
      tradeWalletOption: spec.tradeWalletOption ?? 'eoa',
      smartWallet: spec.smartWallet ?? null,
      embeddedAccount: spec.embeddedAccount ?? null,
      usdc: spec.usdc ?? 10_000_000_000n,
      holdings: new Map(),
      pools: [],
      usdcAllowances: new Map([PLAIN_VENUE, NEG_RISK_VENUE].map(({ exchange }) => [exchange, AMPLE])),
      tokenApprovals: new Set([PLAIN_VENUE.exchange, NEG_RISK_VENUE.exchange, NEG_RISK_VENUE.adapter as string]),
      history: [],
    };
    this.byToken.set(profile.tokenId, profile);
    this.byAddress.set(address.toLowerCase(), profile);
    return profile;
  }

  withToken = (tokenId: string): Profile | undefined => this.byToken.get(tokenId);
  withAddress = (address: string): Profile | undefined => this.byAddress.get(address.toLowerCase());
  all = (): IterableIterator<Profile> => this.byToken.values();

  /** Whether somebody holds, or held, a token of a market. */
  hold({ tokens }: ClobMarket): boolean {
    return [...this.byToken.values()].some(({ holdings }) => tokens.some((token) => holdings.has(token)));
  }

  /** Pays out nothing (redeeming is on chain) but writes what the end of a market meant to its holders. */
  settle(market: ClobMarket, at: number): void {
    for (const profile of this.byToken.values()) {
      for (const outcome of [0, 1] as const) {
        const holding = profile.holdings.get(market.tokens[outcome]);
        if (!holding || holding.balance === 0n) continue;
        const { balance: contracts, cost } = holding;
        const worth =
          market.winningOutcome === null ? contracts / 2n : market.winningOutcome === outcome ? contracts : 0n;
        profile.history.push({ kind: 'settlement', at, market, outcome, contracts, cost, pnl: worth - cost });
      }
    }
  }
}

export function holdingOf(profile: Profile, tokenId: string): Holding {
  const held = profile.holdings.get(tokenId);
  if (held) return held;
  const fresh = { balance: 0n, cost: 0n, realised: 0n };
  profile.holdings.set(tokenId, fresh);
  return fresh;
}

/** Books one execution: `contracts` and `usd` are what really moved, after fees. Returns what takes it back. */
export function bookMove(profile: Profile, tokenId: string, side: Side, contracts: bigint, usd: bigint): () => void {
  const holding = holdingOf(profile, tokenId);
  const sold = holding.balance === 0n ? 0n : (holding.cost * contracts) / holding.balance;
  const [sign, cost, realised] = side === 'BUY' ? [1n, usd, 0n] : [-1n, sold, usd - sold];
  const move = (way: bigint): void => {
    profile.usdc -= way * sign * usd;
    holding.balance += way * sign * contracts;
    holding.cost += way * sign * cost;
    holding.realised += way * realised;
  };
  move(1n);
  return () => move(-1n);
}
