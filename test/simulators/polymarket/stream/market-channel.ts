import { bookRow } from '../clob/rows.ts';
import type { SimClient, SimSocketRoute } from '../../lib/index.ts';
import { gammaCondition, type SimMarket, type SimTrade } from '../world/model.ts';
import { ONE, priceText, sizeText } from '../world/units.ts';
import type { PolymarketWorld } from '../world/world.ts';

type Levels = Map<bigint, bigint>;
interface Shown {
  bid: Levels;
  ask: Levels;
}

/** What a test makes go wrong with changes of books, which have no numbers. */
export interface ChangeFaults {
  /** So many frames of changes are not sent. */
  lose: number;
}

/** The CLOB's market channel: a book first, then changes; no numbers, no replay, and no word about a token that it does not know. */
export interface MarketChannel extends SimSocketRoute {
  readonly faults: ChangeFaults;
  /** Sends what changed in the subscribed books. */
  sync(): void;
}

export function marketChannel(world: PolymarketWorld): MarketChannel {
  const wanted = new Map<SimClient, Set<string>>();
  const faults: ChangeFaults = { lose: 0 };
  /** The levels of the first token that were sent last, by market. */
  const shown = new Map<SimMarket, Shown>();
  const byToken = (token: string): SimMarket | undefined =>
    world.markets.find(({ tokenIds }) => tokenIds.includes(token));
  const to = (market: SimMarket, frame: unknown): void => {
    for (const [client, tokens] of wanted) if (market.tokenIds.some((token) => tokens.has(token))) client.send(frame);
  };

  const dump = (client: SimClient, tokens: readonly string[]): void => {
    const books = tokens.flatMap((token) => {
      const market = byToken(token);
      const outcome = market?.tokenIds[0] === token ? 0 : 1;
      const row = market && bookRow(world, market, outcome);
      if (!market || !row) return [];
      // Others have not been sent yet what this client begins with.
      step(market);
      shown.set(market, levelsOf(market));
      const { min_order_size: _least, neg_risk: _risk, ...sent } = row;
      return [{ ...sent, event_type: 'book' }];
    });
    if (books.length > 0) client.send(`${JSON.stringify(books)}\n`);
  };

  const levelsOf = (market: SimMarket): Shown => {
    const book = world.book(market);
    const levels = (at: 'bid' | 'ask'): Levels => new Map(book?.levels(at).map(({ price, size }) => [price, size]));
    return { bid: levels('bid'), ask: levels('ask') };
  };

  /** After a trade both books come whole, without what only first ones have. */
  const books = (market: SimMarket): void => {
    for (const outcome of [0, 1] as const) {
      const row = bookRow(world, market, outcome);
      if (!row) continue;
      const { asset_id, bids, asks, hash, timestamp } = row;
      to(market, { market: market.conditionId, asset_id, bids, asks, hash, timestamp, event_type: 'book' });
    }
  };

  /**
   * All changes of one step carry the state after it: the same time, hash and best prices. What is new comes before what is gone, so
   * that the book is crossed between where a trade left a remainder.
   */
  const step = (market: SimMarket): void => {
    const before = shown.get(market);
    const row = bookRow(world, market, 0);
    const book = world.book(market);
    if (!before || !row || !book) return;
    const after = levelsOf(market);
    shown.set(market, after);
    const [bid, ask] = [book.best('bid'), book.best('ask')];
    const best = [
      { best_bid: bid === null ? '0' : priceText(bid), best_ask: ask === null ? '1' : priceText(ask) },
      // An empty side may also be an empty text.
      { best_bid: ask === null ? '' : priceText(ONE - ask), best_ask: bid === null ? '' : priceText(ONE - bid) },
    ];
    const head = { market: market.conditionId, timestamp: row.timestamp };
    const changes = (['bid', 'ask'] as const).flatMap((at) =>
      [...new Set([...before[at].keys(), ...after[at].keys()])]
        .filter((price) => before[at].get(price) !== after[at].get(price))
        .map((price) => ({ at, price, size: after[at].get(price) ?? 0n })),
    );
    changes.sort((a, b) => Number(a.size === 0n) - Number(b.size === 0n));
    if (changes.length === 0) return;
    const hashes = [row.hash, bookRow(world, market, 1)?.hash];
    for (const [outcome, prices] of best.entries()) {
      to(market, { ...head, asset_id: market.tokenIds[outcome], ...prices, spread: '0', event_type: 'best_bid_ask' });
    }
    for (const [index, { at, price, size }] of changes.entries()) {
      const first = { asset_id: market.tokenIds[0], price: priceText(price), side: at === 'bid' ? 'BUY' : 'SELL' };
      const second = {
        asset_id: market.tokenIds[1],
        price: priceText(ONE - price),
        side: at === 'bid' ? 'SELL' : 'BUY',
      };
      const text = sizeText(size);
      const entries = [
        { ...first, size: text, hash: hashes[0], ...best[0] },
        { ...second, size: text, hash: hashes[1], ...best[1] },
      ];
      const frame = { ...head, price_changes: entries, event_type: 'price_change' };
      if (faults.lose > 0) {
        faults.lose -= 1;
        continue;
      }
      to(market, frame);
      // The last one is repeated with its entries the other way round.
      if (index === changes.length - 1) to(market, { ...frame, price_changes: entries.toReversed() });
    }
  };

  world.watchers.trade.add((trade: SimTrade) => {
    if (wanted.size === 0) return;
    const { market } = trade;
    step(market);
    books(market);
    to(market, {
      market: market.conditionId,
      asset_id: market.tokenIds[trade.outcome],
      // Some lack the zero before the point.
      price: trade.index % 3 === 0 ? priceText(trade.price).replace(/^0\./, '.') : priceText(trade.price),
      size: sizeText(trade.size),
      fee_rate_bps: '0',
      side: trade.side,
      timestamp: String(world.now()),
      event_type: 'last_trade_price',
      transaction_hash: trade.transactionHash,
    });
  });
  world.watchers.tick.add((market, old) => {
    const head = { market: market.conditionId, timestamp: String(world.now()), event_type: 'tick_size_change' };
    const sizes = { old_tick_size: priceText(old), new_tick_size: priceText(market.tick) };
    for (const asset_id of market.tokenIds) to(market, { ...head, asset_id, ...sizes });
  });
  const listed = new Set(world.markets);
  world.watchers.forgotten.add((market) => {
    listed.delete(market);
    shown.delete(market);
  });
  world.watchers.state.add((market) => {
    const isNew = !listed.has(market);
    listed.add(market);
    const head = { id: market.id, market: gammaCondition(market), timestamp: String(world.now()) };
    for (const [client, tokens] of wanted) {
      if (isNew) {
        const { question, slug, tokenIds, outcomes } = market;
        const names = { question, slug, assets_ids: tokenIds, outcomes, condition_id: head.market };
        client.send({ ...head, ...names, event_type: 'new_market' });
      } else if (market.state === 'resolved' && market.tokenIds.some((token) => tokens.has(token))) {
        const winner = market.payouts?.findIndex((payout) => payout === ONE) ?? -1;
        const names = {
          winning_asset_id: market.tokenIds[winner] ?? '',
          winning_outcome: market.outcomes[winner] ?? '',
        };
        client.send({ ...head, assets_ids: market.tokenIds, ...names, event_type: 'market_resolved' });
      }
    }
  });

  return {
    faults,
    connected: () => {},
    closed: (client) => void wanted.delete(client),
    message(client, text) {
      // It proves the connection, not the subscription: frozen sockets answer too.
      if (text === 'PING') return client.raw('PONG');
      const {
        type,
        operation,
        assets_ids: assets = [],
        initial_dump: wantsBooks = false,
      } = JSON.parse(text) as {
        type?: string;
        operation?: string;
        assets_ids?: string[];
        initial_dump?: boolean;
      };
      const tokens = wanted.get(client) ?? new Set();
      wanted.set(client, tokens);
      if (operation === 'unsubscribe') {
        for (const token of assets) tokens.delete(token);
        client.raw('[]');
      } else if (type === 'market' || operation === 'subscribe') {
        for (const token of assets) tokens.add(token);
        // Left out, no first books come.
        if (wantsBooks) dump(client, assets);
      } else client.send('INVALID OPERATION');
    },
    sync() {
      for (const market of shown.keys()) step(market);
    },
  };
}
