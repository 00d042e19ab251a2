import { expect, test } from 'vitest';
import { complete, StoredMarket } from '../src/market-completion.ts';
import { market } from './helpers/market-store.ts';

const stored = (metadata: object) =>
  StoredMarket.parse({
    ref: 'A',
    first_seen_at: '2026-10-01T00:00:00.000Z',
    event_id: 'E',
    event_name: 'Event',
    series_id: 'S',
    category: 'Sports',
    category_slug: 'sports',
    subcategory: null,
    tags: [],
    image_url: '',
    outcome_ids: ['yes', 'no'],
    metadata: JSON.stringify(metadata),
    open_interest: null,
    day_total: null,
    week_total: null,
    day_price: null,
    week_price: null,
  });

test('a body without its event keeps what the event told; what the market itself no longer says is no longer told', () => {
  const { record } = complete(market({ platform: 'kalshi', ref: 'A', metadata: { tick_size: 0.001 } }), {
    stored: stored({
      tick_size: 0.01,
      event_sub_title: 'TB vs DAL',
      mutually_exclusive: true,
      fee: { multiplier: 1 },
      is_provisional: true,
      rewards_min_size: 50,
    }),
    traded: undefined,
    openInterest: undefined,
  });
  expect(record.info.metadata).toEqual({
    tick_size: 0.001,
    event_sub_title: 'TB vs DAL',
    mutually_exclusive: true,
    fee: { multiplier: 1 },
  });
});
