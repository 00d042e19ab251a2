import { expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/core/time.ts';
import { type QuotedMarket, QuotePublisher } from '../../../ingest/live/quote-publisher.ts';
import { tickerFeed } from '../../../src/platforms/kalshi/stream/tickers.ts';
import { open, ticker } from './socket-frames.ts';

type Side = Record<'price' | 'bid' | 'ask', number | null>;

/** The quote that streams show after a ticker with these fields, of a market with this price and total volume stored. */
async function shownQuote(reported: object, storedPrice: string | null, volumeTotal: string | null) {
  const tickers = open(tickerFeed());
  tickers.session.start();
  const frame = ticker(1000, '0.4000', '0.5000', '0.4500');
  tickers.take({ ...frame, msg: { ...frame.msg, ...reported } });
  const [event] = tickers.events;
  if (event?.kind !== 'quote') throw new Error('expected a quote');
  const publish = vi.fn(async (_channel: string, _text: string) => {});
  const publisher = new QuotePublisher({ publish }, systemClock);
  const market = { platform: 'kalshi', ref: 'A', platformId: 'A', outcomes: [{ id: 'yes' }, { id: 'no' }] };
  publisher.take(event.quote, { market, price: storedPrice, volumeTotal } as unknown as QuotedMarket, 0);
  await vi.waitFor(() => expect(publish).toHaveBeenCalled());
  publisher.stop();
  const [{ data }] = JSON.parse(publish.mock.calls[0]![1]) as [{ data: string }];
  return JSON.parse(data) as { volume_total: number | null; prices: { yes: Side; no: Side } };
}

const shownVolume = async (reported: object, stored: string | null): Promise<unknown> =>
  (await shownQuote(reported, '0.45', stored)).volume_total;

test('a quote shows the total volume of its ticker, never less than the stored one', async () => {
  expect(await shownVolume({ volume_fp: '271926.68' }, '271000.5')).toBe(271_926.68);
  expect(await shownVolume({ volume_fp: '271926.68' }, null)).toBe(271_926.68);
  expect(await shownVolume({ volume_fp: '271926.68' }, '271930')).toBe(271_930);
  expect(await shownVolume({ volume_fp: 'many' }, '7.25')).toBe(7.25);
  expect(await shownVolume({}, '7.25')).toBe(7.25);
  expect(await shownVolume({}, null)).toBeNull();
});

test('the price of a market that never traded is the middle of its quotes', async () => {
  const never = { price_dollars: '0.0000', volume_fp: '0.00', yes_bid_dollars: '0.3000', yes_ask_dollars: '0.3200' };
  const { prices } = await shownQuote(never, null, '0');
  expect(prices).toMatchObject({ yes: { price: 0.31, bid: 0.3, ask: 0.32 }, no: { price: 0.69, bid: 0.68, ask: 0.7 } });
  const oneSided = await shownQuote({ ...never, yes_ask_dollars: '1.0000' }, null, '0');
  expect(oneSided.prices.yes).toMatchObject({ price: null, bid: 0.3, ask: null });
  // A trade that neither the ticker nor the stored volume has yet.
  expect((await shownQuote(never, '0.5', '0')).prices.yes.price).toBe(0.5);
});
