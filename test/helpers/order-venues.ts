import type { CredentialOf } from '../../src/platforms/manifests.ts';
import { PLATFORMS, type Platform } from '../../src/core/model.ts';
import { realClock } from '../simulators/lib/index.ts';
import { type KalshiWorld, startKalshi } from '../simulators/kalshi.ts';
import type { LimitlessWorld } from '../simulators/limitless/world.ts';
import { startLimitless } from '../simulators/limitless.ts';
import { join, walletKey } from '../simulators/limitless/trading-rig.ts';
import { type PolymarketWorld, startPolymarket } from '../simulators/polymarket.ts';
import { createRig } from '../simulators/polymarket/trading-rig.ts';
import { formOf } from '../simulators/polymarket/world/tape.ts';
import { price, shares } from '../simulators/polymarket/world/units.ts';
import type { SimClock, Simulator } from '../simulators/simulator.ts';
import type { SimSockets } from '../simulators/lib/index.ts';

/** rests: far from the market. fills: at once and whole. misses: to be filled at once, where nothing is offered. */
export type Fortune = 'rests' | 'fills' | 'misses';

/** An order as its platform holds it, in the service's words; sizes in contracts or shares. */
export interface HeldOrder {
  orderId: string;
  status: string;
  size: number;
  filled: number;
}

/** An account on a platform, and all it has placed there. */
export interface VenueMember<P extends Platform> {
  fields: CredentialOf<P>;
  /** What nobody may see of it, by what it is. */
  secrets(): Record<string, string>;
  held(): HeldOrder[];
}

/** What each platform's simulator knows to be true. */
interface Worlds extends Record<Platform, unknown> {
  kalshi: KalshiWorld;
  polymarket: PolymarketWorld;
  limitless: LimitlessWorld;
}

/** A simulated platform with one market that only members trade in, and somebody who sells all they ask for. */
export interface Venue<P extends Platform = Platform> {
  platform: P;
  sim: Simulator<Worlds[P]>;
  /** Those of members and of the market alike. */
  sockets: SimSockets;
  /** "METHOD path" of a placement. */
  places: RegExp;
  marketId: string;
  member(): VenueMember<P>;
  /** Body of POST orders; no two numbers ask for the same size. */
  order(number: number, fortune: Fortune): { size: number; [field: string]: unknown };
  /** A stranger sells so many contracts to the orders that rest. */
  sell(contracts: number): void | Promise<void>;
  /** The last match fails to settle; absent where matches are final. */
  unsettle?(): void;
}

const contracts = (size: bigint): number => Number(size) / 1_000_000;
const atWork = (filled: number): string => (filled > 0 ? 'partially_filled' : 'open');

const terms = (platform: Platform, marketId: string, [low, high]: [number, number], fortune: Fortune): object => ({
  platform,
  market_id: marketId,
  side: 'buy',
  outcome: 'yes',
  type: 'limit',
  price: fortune === 'fills' ? high : low,
  time_in_force: fortune === 'misses' ? 'ioc' : 'gtc',
});

async function kalshiVenue(seed: number, clock: SimClock = realClock): Promise<Venue<'kalshi'>> {
  const sim = await startKalshi({ seed, clock, markets: 12, tradesPerMarket: 5 });
  sim.enforceLimits = false;
  const marketId = sim.world.createMarket('rate');
  const book = sim.world.bookOf(marketId);
  for (const side of ['bid', 'ask'] as const) {
    for (const { order } of Array.from(book.orders(side))) book.remove(side, order);
  }
  book.add('ask', 4500, { trader: 0, count: 10_000_000 });
  return {
    platform: 'kalshi',
    sim,
    sockets: sim.sockets,
    sell: (size) => void sim.world.takeOn(marketId, { takerSide: 'no', yesPrice: '0.1000', count: size.toFixed(2) }),
    places: /^POST .*\/portfolio\/events\/orders(\/batched)?$/,
    marketId,
    member() {
      const account = sim.world.addAccount({ balance: '100000' });
      const words = { canceled: 'cancelled', executed: 'filled' };
      return {
        fields: { api_key_id: account.apiKeyId, private_key: account.privateKeyPem },
        secrets: () => ({ 'Kalshi key': account.privateKeyPem }),
        held: () =>
          sim.world.ordersOf(account).map(({ orderId, status, initialCount, fillCount }) => ({
            orderId,
            status: status === 'resting' ? atWork(Number(fillCount)) : words[status],
            size: Number(initialCount),
            filled: Number(fillCount),
          })),
      };
    },
    order: (number, fortune) => ({ ...terms('kalshi', marketId, [0.1, 0.45], fortune), size: (100 + number) / 100 }),
  };
}

async function polymarketVenue(seed: number, clock: SimClock = realClock): Promise<Venue<'polymarket'>> {
  const sim = await startPolymarket({ seed, clock, markets: 1, tradesPerMarket: 2 });
  sim.enforceLimits = false;
  const { world } = sim;
  const market = createRig(sim).flat();
  const [wallet] = world.wallets;
  if (!wallet) throw new Error('a world without wallets');
  world.book(market)?.rest({ wallet, at: 'ask', price: price('0.41'), left: shares('10000000'), own: null });
  let members = 0;
  return {
    platform: 'polymarket',
    sim,
    sockets: sim.sockets,
    sell(size) {
      let left = shares(String(size));
      const resting =
        world
          .book(market)
          ?.side('bid')
          .filter(({ own }) => own !== null) ?? [];
      const matches = resting.flatMap((order) => {
        const part = order.left < left ? order.left : left;
        left -= part;
        return part > 0n ? { order, price: order.price, size: part } : [];
      });
      world.settle(market, wallet, formOf(1, 'BUY'), matches);
    },
    unsettle() {
      const match = world.exchange.trades.at(-1);
      if (match) world.exchange.fail(match);
    },
    places: /^POST \/clob\/orders?$/,
    marketId: market.id,
    member() {
      const private_key = `0x${String((members += 1)).padStart(64, 'd')}` as const;
      const account = world.addWallet({ privateKey: private_key, cash: '1000000' });
      const words: Record<string, string> = { MATCHED: 'filled', DELAYED: 'pending' };
      return {
        fields: { private_key, signature_type: 0 },
        secrets() {
          const [key] = world.exchange.keys.listOf(account.owner);
          const derived: Record<string, string> = key
            ? { 'Polymarket secret': key.secret, 'Polymarket passphrase': key.passphrase }
            : {};
          return { 'Polymarket wallet': private_key, ...derived };
        },
        held: () =>
          world.ordersOf(account).map(({ id, status, shares: size, matched }) => ({
            orderId: id,
            status: status === 'LIVE' ? atWork(contracts(matched)) : (words[status] ?? 'cancelled'),
            size: contracts(size),
            filled: contracts(matched),
          })),
      };
    },
    // Whole shares: what a purchase spends stays in whole cents.
    order: (number, fortune) => ({ ...terms('polymarket', market.id, [0.3, 0.41], fortune), size: 5 + number }),
  };
}

async function limitlessVenue(seed: number, clock: SimClock = realClock): Promise<Venue<'limitless'>> {
  const sim = await startLimitless({ seed, clock });
  sim.enforceLimits = false;
  const { world } = sim;
  const market = world.createMarket({ title: 'Order tests', halfSpread: 500, popularity: 0 });
  const on = { sim, world };
  const seller = join(on, 14);
  await seller.place({ market, outcome: 1, tick: 500, milliShares: 15_000_000 });
  let members = 0;
  return {
    platform: 'limitless',
    sim,
    sockets: sim.sockets,
    async sell(size) {
      await seller.place({ market, outcome: 1, tick: 700, type: 'FAK', milliShares: Math.round(size * 1000) });
    },
    places: /^POST \/orders$/,
    marketId: market.slug,
    member() {
      members += members === 13 ? 2 : 1;
      const { address } = join(on, members);
      const profile = world.members.withAddress(address);
      if (!profile) throw new Error('joined without a profile');
      const { tokenId: token_id, secret } = profile;
      const private_key = walletKey(members);
      const words: Record<string, string> = { MATCHED: 'filled', DELAYED: 'pending' };
      return {
        fields: { token_id, secret, private_key },
        secrets: () => ({ 'Limitless secret': secret, 'Limitless wallet': private_key }),
        held: () =>
          world.ordersOf(address).map(({ id, status, size, filled }) => ({
            orderId: id,
            status: status === 'LIVE' ? atWork(contracts(filled)) : (words[status] ?? 'cancelled'),
            size: contracts(size ?? 0n),
            filled: contracts(filled),
          })),
      };
    },
    order: (number, fortune) => ({
      ...terms('limitless', market.slug, [0.3, 0.5], fortune),
      size: (100 + number) / 100,
    }),
  };
}

const STARTS = { kalshi: kalshiVenue, polymarket: polymarketVenue, limitless: limitlessVenue };

export const startVenues = async (
  seed: number,
  clock?: SimClock,
  platforms: readonly Platform[] = PLATFORMS,
): Promise<Venue[]> => Promise.all(platforms.map((platform) => STARTS[platform](seed, clock)));
