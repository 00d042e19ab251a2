import type { Rng } from '../../lib/index.ts';
import type { Book } from './book.ts';
import type { Ids } from './ids.ts';
import type { SimMarket, SimWallet } from './model.ts';
import { ONE } from './units.ts';

/** The house: the crowd of wallets that quotes and trades when no client does. */

const FIRST = ['Scarce', 'Brisk', 'Hollow', 'Velvet', 'Rusty', 'Candid', 'Lunar', 'Mossy', 'Quiet', 'Sturdy'];
const SECOND = ['Lantern', 'Kettle', 'Harbor', 'Otter', 'Compass', 'Thicket', 'Anvil', 'Pebble', 'Sparrow'];

/** Names as they come: chosen, none, hidden, or the address with a time behind it. */
export function createWallet(ids: Ids, index: number, name?: string): SimWallet {
  const address = ids.hex('wallet', index, 40);
  const chosen = `${FIRST[index % FIRST.length]}${SECOND[(index * 7) % SECOND.length]}${index}`.toLowerCase();
  const shape = index % 6;
  return {
    index,
    address,
    name: name ?? (shape === 4 ? '' : shape === 5 ? `${address}-17${ids.small('name', index, 90000) + 60000}` : chosen),
    pseudonym: name || shape !== 4 ? `${FIRST[(index * 3) % FIRST.length]}-${SECOND[index % SECOND.length]}` : '',
    bio: shape === 0 ? 'trades the news, loses to the weather' : '',
    profileImage: shape === 1 ? `https://images.example.org/profile/${index}.png` : '',
    displayUsernamePublic: shape !== 4,
  };
}

/** The dozen house wallets that trade a market; wallet 0 (the demo user) is not one of them. */
export const participant = (market: SimMarket, wallets: number, draw: number): number =>
  1 + ((market.index * 5 + draw * 3) % (wallets - 1));

export const tickCount = (market: SimMarket): number => Number(ONE / market.tick);
export const atTick = (market: SimMarket, tick: number): bigint => market.tick * BigInt(tick);

/** Shares ×10^6 of one order, whole hundredths: mostly tens to hundreds, now and then a whale. */
export function drawSize(rng: Rng): number {
  const hundredths = Math.round(500 * 10 ** (rng.next() * 2.3));
  return (rng.chance(0.02) ? hundredths * 25 : hundredths) * 10_000;
}

/** Moves the best quotes a little, and with the trade that was just made. An empty side stays empty. */
export function stepQuotes(market: SimMarket, rng: Rng, lifted: boolean): void {
  const last = tickCount(market);
  if (market.bidTick === 0 || market.askTick === last) return;
  const spread = Math.min(rng.chance(0.7) ? 1 : rng.int(1, 3), last - 2);
  const drift = rng.int(-2, 2) + (lifted ? 1 : -1) * rng.int(0, 1);
  const widest = Math.max(1, Math.floor(last / 100));
  market.bidTick = Math.min(Math.max(1, market.bidTick + drift * widest), last - 1 - spread);
  market.askTick = market.bidTick + spread;
}

/** Which way the next trade goes: true lifts the first outcome. */
export const drawDirection = (market: SimMarket, rng: Rng): boolean =>
  market.bidTick === 0 || (market.askTick < tickCount(market) && rng.chance(0.5));

/** Replaces the house's orders by new ones around the market's quotes, never through a client's order. */
export function quote(book: Book, market: SimMarket, wallets: readonly SimWallet[], rng: Rng, nowMs: number): void {
  book.remove((order) => order.own === null);
  const last = tickCount(market);
  const lowestAsk = Number((book.best('bid') ?? -1n) / market.tick);
  const highestBid = Number((book.best('ask') ?? ONE + market.tick) / market.tick);
  let bid = Math.min(market.bidTick, highestBid - 1);
  let ask = Math.max(market.askTick, lowestAsk + 1);
  for (let level = 0; level < 8; level++) {
    for (const at of ['bid', 'ask'] as const) {
      const tick = at === 'bid' ? bid : ask;
      if (tick < 1 || tick >= last) continue;
      for (let orders = rng.int(1, 2); orders > 0; orders--) {
        const wallet = wallets[participant(market, wallets.length, rng.int(0, 11))] as SimWallet;
        book.rest({ wallet, at, price: atTick(market, tick), left: BigInt(drawSize(rng)), own: null });
      }
    }
    bid -= rng.int(1, 3);
    ask += rng.int(1, 3);
  }
  book.updatedMs = nowMs;
}
