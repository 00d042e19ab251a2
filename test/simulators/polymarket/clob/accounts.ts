import { privateKeyToAccount } from 'viem/accounts';
import type { Hex } from 'viem';
import type { SimMarket, SimWallet } from '../world/model.ts';
import { usd } from '../world/units.ts';
import type { PolymarketWorld } from '../world/world.ts';

/** Somebody who can place orders. Money and shares belong to the wallet; the owner's key signs. */
export interface SimAccount {
  wallet: SimWallet;
  /** Address of the signing key, lower case. */
  owner: string;
  privateKey: Hex | null;
  /** 0 key itself, 1 proxy, 2 Safe, 3 deposit wallet. */
  signatureType: 0 | 1 | 2 | 3;
  /** pUSD ×10^6, the part behind open orders included. */
  cash: bigint;
  /** Whether the exchange contracts of a protocol version may move its money and shares: one says nothing of the other. */
  approved: Record<SimMarket['version'], boolean>;
  /** Assets (COLLATERAL, or a token id) whose balance the CLOB has not read since it changed: it takes them for 0. */
  unread: Set<string>;
  /** Another contract that has to be approved for purchases, and what it may spend; null = none. */
  spender: { address: string; allowance: bigint } | null;
  /** true: only orders of a deposit wallet are taken. */
  depositFlowOnly: boolean;
  banned: boolean;
  closedOnly: boolean;
}

export interface WalletSpec {
  privateKey?: Hex;
  /** Of the key, where the key itself is not known. */
  address?: string;
  signatureType?: 0 | 1 | 2 | 3;
  name?: string;
  /** pUSD, default 10000. */
  cash?: string;
}

export class Accounts {
  private readonly world: PolymarketWorld;
  private readonly all: SimAccount[] = [];

  constructor(world: PolymarketWorld) {
    this.world = world;
  }

  /** A wallet that is known already keeps its shares and gets the key and cash of the new spec. */
  add(spec: WalletSpec): SimAccount {
    const owner = (spec.privateKey ? privateKeyToAccount(spec.privateKey).address : spec.address)?.toLowerCase();
    if (owner === undefined) throw new RangeError('addWallet: privateKey or address is required');
    const signatureType = spec.signatureType ?? 0;
    // The proxy, Safe or deposit wallet is made up.
    const maker = signatureType === 0 ? owner : this.world.ids.hex('funder', `${owner}${signatureType}`, 40);
    const common = { privateKey: spec.privateKey ?? null, cash: usd(spec.cash ?? '10000') };
    const known = this.byMaker(maker);
    if (known) return Object.assign(known, common);
    const account: SimAccount = {
      ...common,
      wallet: this.world.newWallet(maker, spec.name ?? ''),
      owner,
      signatureType,
      approved: { v1: true, v2: true },
      unread: new Set(),
      spender: null,
      depositFlowOnly: false,
      banned: false,
      closedOnly: false,
    };
    this.all.push(account);
    return account;
  }

  /** Whoever makes an API key has an account; a stranger's is empty. */
  ensure(owner: string): void {
    if (!this.byOwner(owner)) this.add({ address: owner, cash: '0' });
  }

  /** The account whose wallet makes an order. */
  byMaker(address: string): SimAccount | undefined {
    return this.all.find(({ wallet }) => wallet.address === address.toLowerCase());
  }

  byOwner(address: string, signatureType?: number): SimAccount | undefined {
    const own = this.all.filter(({ owner }) => owner === address.toLowerCase());
    return (
      own.find((account) => account.signatureType === signatureType) ??
      (signatureType === undefined ? own[0] : undefined)
    );
  }

  ofOwner(address: string): SimAccount[] {
    return this.all.filter(({ owner }) => owner === address.toLowerCase());
  }
}
