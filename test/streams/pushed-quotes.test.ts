import { expect, test } from 'vitest';
import { PushedQuotes, type Quote } from '../../src/streams/pushed-quotes.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

const NAME = 'kalshi:A';

test('after the clock is set back, a polled quote that came after the quote of a socket is still the newer one', async () => {
  const clock = virtualClock();
  const quotes = new PushedQuotes(clock);
  const quote = (price: number): Quote => {
    const received_at = new Date(clock.now()).toISOString();
    const data = JSON.stringify({ prices: { yes: { price, bid: null, ask: null } }, volume_total: null, received_at });
    return { platform: 'kalshi', ref: 'A', eventId: '', data };
  };
  const before = quote(0.3);
  await clock.advance(1000);
  const pushed = quote(0.4);
  quotes.push(NAME, pushed);
  expect([quotes.isOlder(NAME, before), quotes.newest(NAME, before)]).toEqual([true, pushed]);
  clock.correct(-3_600_000);
  await clock.advance(20_000);
  const polled = quote(0.5);
  expect([quotes.isOlder(NAME, polled), quotes.newest(NAME, polled)]).toEqual([false, polled]);
  expect(quotes.admitted(NAME, polled)).toEqual(polled);
});

/** A quote without prices. */
const at = (received_at: string): Quote => ({
  platform: 'kalshi',
  ref: 'A',
  eventId: '',
  data: JSON.stringify({ prices: {}, volume_total: null, received_at }),
});

test('a polled page from before the quote of a socket is older, however long ago both were received', async () => {
  const clock = virtualClock();
  const quotes = new PushedQuotes(clock);
  const polled = at(new Date(clock.now()).toISOString());
  await clock.advance(30_000);
  const pushed = at(new Date(clock.now()).toISOString());
  quotes.push(NAME, pushed);
  await clock.advance(600_000);
  expect([quotes.isOlder(NAME, polled), quotes.newest(NAME, polled)]).toEqual([true, pushed]);
});
