import type { JsonObject, MarketRecord, OrderBook, Platform, TradeRecord } from '../../../../src/core/model.ts';
import { bookSide, mirrorSide } from '../../../../src/platforms/book-sides.ts';
import { categorySlug } from '../../../../src/platforms/categories.ts';
import type { StoredMarket } from '../../../../src/platforms/contract.ts';
import { complementQuote, isoTime, microseconds, yesNoOutcomes } from '../../../../src/platforms/market-fields.ts';
import type { FourthBook, FourthMarket, FourthTrade } from './wire.ts';

/** The word in PLATFORMS; the type of this repository does not know it. */
export const FOURTH = 'fourth' as Platform;

/** A market as listed; 24 h, 7 d and 30 d volumes come from the stored trades. */
export function mapMarket(row: FourthMarket, raw: JsonObject, fetchedAt: string): MarketRecord {
  const quote = { price: row.price, bid: row.bid, ask: row.ask };
  return {
    info: {
      platform: FOURTH,
      ref: row.slug,
      platformId: row.slug,
      title: row.question,
      marketType: 'binary',
      outcomes: yesNoOutcomes('', ''),
      eventId: row.topic,
      eventName: row.topic,
      seriesId: '',
      slug: row.slug,
      description: '',
      category: row.topic,
      categorySlug: categorySlug(row.topic),
      subcategory: null,
      tags: [],
      sourceUrl: `https://fourth.example/m/${row.slug}`,
      imageUrl: '',
      createdAt: isoTime(row.opened_at),
      tradingStartAt: isoTime(row.opened_at),
      tradingEndAt: isoTime(row.ends_at),
      resolutionDate: null,
      resolutionCriteria: '',
      resolutionSource: '',
      metadata: { volume_basis: 'usd' },
    },
    state: {
      status: row.state === 'trading' ? 'open' : 'closed',
      resolvedAt: null,
      quotes: [quote, complementQuote(quote)],
      volume24h: null,
      volume7d: null,
      volume30d: null,
      volume1y: null,
      volumeTotal: row.volume_usd,
      liquidity: null,
      openInterest: null,
      priceChange24h: null,
      priceChange7d: null,
      metadata: {},
    },
    raw: { market: raw },
    fetchedAt,
    fromTrades: { volumes: 'feed' },
  };
}

/** A fill of the first outcome, seen from its taker; null when its time cannot be read. */
export function mapTrade(row: FourthTrade): TradeRecord | null {
  const executedAtUs = microseconds(row.at);
  if (executedAtUs === null) return null;
  return {
    platform: FOURTH,
    ref: row.slug,
    tradeId: row.id,
    executedAtUs,
    side: row.side,
    outcome: 'yes',
    outcomeIndex: 0,
    outcomeCount: 2,
    price: row.price,
    size: row.shares,
    transactionHash: '',
    trader: null,
    isBlockTrade: false,
    quoteUsd: null,
  };
}

const levels = (side: FourthBook['bids']) => side.map(([price, size]) => ({ price, size }));

/** The book of the first outcome; the second is its mirror. */
export function mapBook(market: StoredMarket, body: FourthBook, raw: JsonObject, timestamp: string): OrderBook {
  const yes = bookSide(levels(body.bids), levels(body.asks));
  return {
    platform: FOURTH,
    platformId: market.platformId,
    timestamp,
    exchangeAt: null,
    yes,
    no: mirrorSide(yes),
    minOrderSize: null,
    tickSize: null,
    negRisk: false,
    lastTradePrice: null,
    leftOut: 0,
    raw,
  };
}
