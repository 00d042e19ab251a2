import type { SimEvent, SimMarket } from './model.ts';
import { fee, NO, settled, SPLIT, YES, type Stage } from './stage.ts';
import { DAY, HOUR, ONE, price, shares } from './units.ts';

/** The odd ones: what the platform lists beside ordinary markets, and what a reader trips over. */

const closedIn2020 = (iso: string): Partial<SimMarket> => ({
  state: 'resolved',
  closedMs: Date.parse(iso),
  endMs: Date.parse(iso) + DAY,
  createdMs: Date.parse(iso) - 60 * DAY,
  updatedMs: Date.parse('2024-04-23T00:15:27.877Z'),
  acceptingFromMs: null,
  showsUma: false,
});

/** 2020: no order book keys, a category of their own, no winner that prices could show. */
export function legacyRows({ catalog, ids }: Stage): void {
  const event = (title: string, iso: string): SimEvent =>
    catalog.addEvent({
      title,
      tags: [catalog.tag('All')],
      createdMs: Date.parse(iso) - 60 * DAY,
      endMs: Date.parse(iso),
    });
  catalog.addMarket(event('Value locked in lending protocols in 2020', '2021-01-02T21:45:52Z'), {
    question: 'How much value will be locked in lending protocols at the end of 2020?',
    id: '43',
    outcomes: ['Long', 'Short'],
    ...closedIn2020('2021-01-02T21:45:52Z'),
    payouts: [price('0.5843311669'), price('0.4156688331')],
    legacy: {
      category: 'Crypto',
      categoryOf: 'market',
      marketType: 'scalar',
      bounds: ['8000000000', '20000000000'],
      volume: 46_944_579_746n,
      reported: [price('0.584331'), price('0.415669')],
    },
  });
  catalog.addMarket(event('Early vaccine', '2020-11-02T16:31:01Z'), {
    question: 'Will a vaccine be approved before November 2020?',
    id: '44',
    ...closedIn2020('2020-11-02T16:31:01Z'),
    payouts: [0n, 0n],
    legacy: {
      category: 'Science',
      categoryOf: 'event',
      marketType: 'normal',
      bounds: null,
      volume: 32_257_445_115n,
      reported: NO,
    },
  });
  catalog.addMarket(event('Best picture 2020', '2020-12-12T04:00:00Z'), {
    question: 'Which film will win best picture?',
    id: '45',
    outcomes: ['Nightfall', 'The Long Field', 'Ironwood'],
    ...closedIn2020('2020-12-12T04:00:00Z'),
    payouts: [0n, ONE, 0n],
    conditionId: '',
    questionId: ids.hex('question', 45),
    tokenIds: [],
    legacy: {
      category: 'Pop-Culture',
      categoryOf: 'market',
      marketType: 'normal',
      bounds: null,
      volume: 8_120_550_000n,
      reported: null,
    },
  });
  catalog.addMarket(event('Comet before the solstice', '2021-06-12T04:00:00Z'), {
    question: 'Will a comet be seen before the solstice?',
    id: '46',
    ...closedIn2020('2021-06-12T04:00:00Z'),
    payouts: [price('0.62'), price('0.38')],
    legacy: {
      category: 'Science',
      categoryOf: 'market',
      marketType: 'normal',
      bounds: null,
      volume: 1_020_000n,
      reported: null,
    },
  });
}

/** 50-50; closed but only proposed; disputed, at the prices of the disputed answer; a payout vector with no UMA word and orders still "accepted". */
export function oddResolutions({ catalog, nowMs }: Stage): void {
  const tags = [catalog.tag('Tech'), catalog.tag('AI')];
  const event = (title: string): SimEvent => catalog.addEvent({ title, tags, endMs: nowMs - 30 * HOUR });
  const one = (title: string, fields: Partial<SimMarket>): SimMarket =>
    catalog.addMarket(event(title), { question: title, ...fields });
  one('Orbital launch before the new phone?', settled(nowMs, 200, SPLIT));
  one('Will the merger be announced in spring?', {
    ...settled(nowMs, 150, YES),
    uma: [],
    showsUma: false,
    acceptingWhenClosed: true,
  });
  one('Model Q released by last week?', { state: 'closed', closedMs: nowMs - 3 * HOUR, uma: ['proposed'] });
  one('Was the outage caused by a squirrel?', {
    state: 'closed',
    closedMs: nowMs - 50 * HOUR,
    uma: ['proposed', 'disputed', 'proposed', 'disputed'],
    answer: 1,
  });
}

/** Paused, and three ways of not being open yet. */
export function halted({ catalog, nowMs }: Stage): void {
  const event = catalog.addEvent({ title: 'Harbor bridge project', tags: [catalog.tag('Business')] });
  catalog.addMarket(event, { question: 'Harbor bridge opened this year?', state: 'paused' });
  catalog.addMarket(event, {
    question: 'Harbor bridge toll above 5 dollars?',
    state: 'unopened',
    acceptingFromMs: nowMs + 2 * HOUR,
  });
  catalog.addMarket(event, {
    question: 'Harbor bridge named after the mayor?',
    state: 'unopened',
    acceptingFromMs: null,
  });
}

/** No bid, no ask, never traded. */
export function thinBooks({ catalog }: Stage): void {
  const event = catalog.addEvent({ title: 'Long shots', tags: [catalog.tag('Science')] });
  catalog.addMarket(event, {
    question: 'Will a comet be visible at noon this year?',
    tick: price('0.001'),
    bidTick: 0,
    askTick: 1,
  });
  catalog.addMarket(event, {
    question: 'Will the sun rise every day this year?',
    tick: price('0.001'),
    bidTick: 999,
    askTick: 1000,
  });
  catalog.addMarket(event, { question: 'Will anyone trade this market?', mid: '0.5', quiet: true });
}

export function protocolV2({ catalog, nowMs }: Stage): void {
  const event = catalog.addEvent({ title: 'Largest company at year end', tags: [catalog.tag('Finance')] });
  for (const name of ['Halcyon', 'Ostrom']) {
    catalog.addMarket(event, {
      question: `Will ${name} be the largest company at year end?`,
      groupItemTitle: name,
      fee: fee(400, 'finance_fees'),
      version: 'v2',
    });
  }
  catalog.addMarket(event, {
    question: 'Was Halcyon the largest company last year?',
    version: 'v2',
    ...settled(nowMs, 60, NO),
  });
}

export function archived({ catalog, nowMs }: Stage): void {
  const event = catalog.addEvent({ title: 'Withdrawn question', tags: [catalog.tag('Culture')], archived: true });
  catalog.addMarket(event, { question: 'Withdrawn question', ...settled(nowMs, 400, SPLIT) });
}

export function fineTicks({ catalog }: Stage): void {
  const event = catalog.addEvent({ title: 'Grid experiments', tags: [catalog.tag('Finance')] });
  for (const tick of ['0.1', '0.005', '0.0001']) {
    catalog.addMarket(event, {
      question: `Index above target, quoted in ${tick}?`,
      tick: price(tick),
      minSize: shares(tick === '0.1' ? '15' : '5'),
    });
  }
}
