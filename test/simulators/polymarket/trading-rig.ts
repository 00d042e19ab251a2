import { ClobClient, OrderType, Side, type ApiKeyCreds, type SignedOrder } from '@polymarket/clob-client-v2';
import { createWalletClient, http, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { polygon } from 'viem/chains';
import { manualClock } from '../lib/index.ts';
import { startPolymarket } from '../polymarket.ts';
import type { Simulator } from '../simulator.ts';
import type { SimAccount, WalletSpec } from './clob/accounts.ts';
import { hmacOf } from './clob/keys.ts';
import { readerOf, type Row } from './reader.ts';
import type { SimMarket } from './world/model.ts';
import { price, shares } from './world/units.ts';
import type { PolymarketWorld } from './world/world.ts';

/** An account of the world with the platform's own SDK in its hands. */
export interface Trader {
  account: SimAccount;
  privateKey: Hex;
  client: ClobClient;
  creds: ApiKeyCreds;
}

export interface LimitOrder {
  token: string;
  at: number;
  size: number;
  side?: Side;
  type?: OrderType.GTC | OrderType.GTD;
  postOnly?: boolean;
  expiration?: number;
  /** Of the exchange contract; the SDK asks the platform when left out. */
  version?: 2 | 3;
}

export interface MarketOrder {
  token: string;
  side: Side;
  /** pUSD of a BUY, shares of a SELL. */
  amount: number;
  at: number;
  type?: OrderType.FOK | OrderType.FAK;
  version?: 2 | 3;
}

/** Orders against a simulator, sent by the platform's own SDK. */
export interface TradingRig {
  trader(spec?: WalletSpec): Promise<Trader>;
  /** A market whose whole book is 1000 shares at 0.40 and at 0.41, and that the house leaves alone. */
  flat(spec?: Partial<SimMarket>, negRisk?: boolean): SimMarket;
  sign(who: Trader, order: LimitOrder): Promise<SignedOrder>;
  limit(who: Trader, order: LimitOrder): Promise<Row>;
  now(who: Trader, order: MarketOrder): Promise<Row>;
  /** A request signed with the API key, whatever its content. */
  send(who: Pick<Trader, 'privateKey' | 'creds'>, method: string, path: string, value?: unknown): Promise<Response>;
}

const optionsOf = (version: 2 | 3 | undefined) =>
  version ? { version, tickSize: '0.01' as const, negRisk: false } : {};

const sign: TradingRig['sign'] = ({ client }, { token, at, size, side = Side.BUY, expiration, version }) => {
  const order = { tokenID: token, price: at, size, side };
  return client.createOrder(expiration ? { ...order, expiration } : order, optionsOf(version));
};

export function createRig(sim: Simulator<PolymarketWorld>): TradingRig {
  const { world } = sim;
  const host = sim.env['POLYMARKET_CLOB_URL'] ?? '';
  let keys = 0;
  return {
    sign,
    async trader(spec = {}) {
      const privateKey: Hex = spec.privateKey ?? `0x${String(++keys).padStart(64, '7')}`;
      const account = world.addWallet({ ...spec, privateKey });
      const signer = createWalletClient({
        account: privateKeyToAccount(privateKey),
        chain: polygon,
        transport: http(host),
      });
      const creds = await new ClobClient({ host, chain: 137, signer }).createOrDeriveApiKey();
      const { signatureType } = account;
      const funder = signatureType === 0 ? {} : { funderAddress: account.wallet.address };
      return {
        account,
        privateKey,
        creds,
        client: new ClobClient({ host, chain: 137, signer, creds, signatureType, ...funder }),
      };
    },
    flat(spec = {}, negRisk = false) {
      const event = world.createEvent({ title: 'Order tests', negRisk });
      const market = world.createMarket(
        { question: `Order test ${world.markets.length}?`, quiet: true, ...spec },
        event,
      );
      const book = world.book(market);
      const [wallet] = world.wallets;
      if (!book || !wallet) throw new Error('a market that is not open has no book');
      book.remove(() => true);
      book.rest({ wallet, at: 'bid', price: price('0.4'), left: shares('1000'), own: null });
      book.rest({ wallet, at: 'ask', price: price('0.41'), left: shares('1000'), own: null });
      return market;
    },
    // deferExec only keeps the SDK from waiting for the settlement.
    async limit(who, order) {
      const signed = await sign(who, order);
      return { ...(await who.client.postOrder(signed, order.type ?? OrderType.GTC, order.postOnly ?? false, true)) };
    },
    async now(who, { token, side, amount, at, type = OrderType.FOK, version }) {
      const signed = await who.client.createMarketOrder(
        { tokenID: token, side, amount, price: at, orderType: type },
        optionsOf(version),
      );
      return { ...(await who.client.postOrder(signed, type, false, true)) };
    },
    send({ privateKey, creds }, method, path, value) {
      const body = value === undefined ? '' : JSON.stringify(value);
      const timestamp = String(Math.floor(world.now() / 1000));
      const headers = {
        poly_address: privateKeyToAccount(privateKey).address,
        poly_api_key: creds.key,
        poly_passphrase: creds.passphrase,
        poly_timestamp: timestamp,
        poly_signature: hmacOf(creds.secret, timestamp, method, path.split('?')[0] ?? '', body),
      };
      return readerOf(sim).ask('CLOB', path, { method, headers, ...(body && { body }) });
    },
  };
}

/** A Polymarket of two trades without rate limits, at noon, and who trades there. */
export async function startQuiet() {
  const clock = manualClock('2026-11-20T12:00:00Z');
  const sim = await startPolymarket({ clock, markets: 1, tradesPerMarket: 2 });
  sim.enforceLimits = false;
  return { clock, sim, world: sim.world, reader: readerOf(sim), rig: createRig(sim) };
}
