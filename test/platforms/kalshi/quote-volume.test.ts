import { expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/core/time.ts';
import { type QuotedMarket, QuotePublisher } from '../../../ingest/live/quote-publisher.ts';
import { tickerFeed } from '../../../src/platforms/kalshi/stream/tickers.ts';
import { open, ticker } from './socket-frames.ts';

/** The total volume that streams show after a ticker with this one, of a market with this one stored. */
async function shownVolume(reported: object, stored: string | null): Promise<unknown> {
  const tickers = open(tickerFeed());
  tickers.session.start();
  const frame = ticker(1000, '0.4000', '0.5000', '0.4500');
  tickers.take({ ...frame, msg: { ...frame.msg, ...reported } });
  const [event] = tickers.events;
  if (event?.kind !== 'quote') throw new Error('expected a quote');
  const publish = vi.fn(async (_channel: string, _text: string) => {});
  const publisher = new QuotePublisher(publish, systemClock);
  const market = { platform: 'kalshi', ref: 'A', platformId: 'A', outcomes: [{ id: 'yes' }, { id: 'no' }] };
  publisher.take(event.quote, { market, price: '0.45', volumeTotal: stored } as unknown as QuotedMarket, 0);
  await vi.waitFor(() => expect(publish).toHaveBeenCalled());
  publisher.stop();
  const [{ data }] = JSON.parse(publish.mock.calls[0]![1]) as [{ data: string }];
  return (JSON.parse(data) as { volume_total: unknown }).volume_total;
}

test('a quote shows the total volume of its ticker, never less than the stored one', async () => {
  expect(await shownVolume({ volume_fp: '271926.68' }, '271000.5')).toBe(271_926.68);
  expect(await shownVolume({ volume_fp: '271926.68' }, null)).toBe(271_926.68);
  expect(await shownVolume({ volume_fp: '271926.68' }, '271930')).toBe(271_930);
  expect(await shownVolume({ volume_fp: 'many' }, '7.25')).toBe(7.25);
  expect(await shownVolume({}, '7.25')).toBe(7.25);
  expect(await shownVolume({}, null)).toBeNull();
});
