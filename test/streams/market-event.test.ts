import { expect, test } from 'vitest';
import { marketEvent } from '../../src/streams/market-event.ts';

const eventOf = (status: string, previous_status: string, payouts = '') =>
  marketEvent(
    'limitless',
    { platform_id: 'a', status, previous_status, resolved_at: null, payouts, synced_at: '2026-11-20T12:00:00.000Z' },
    '2026-11-20T12:00:01.000Z',
  );

test.each([
  ['its payouts', '{"yes":0.5,"no":0.5}', { yes: 0.5, no: 0.5 }],
  ['null where the platform reports none', '{}', null],
])('the event of a market that resolved has %s', (_what, payouts, expected) => {
  expect(eventOf('settled', 'closed', payouts)).toMatchObject({ type: 'resolved', payouts: expected });
});

test.each([
  ['created', 'open', '', null],
  ['changed', 'open', 'open', 'open'],
  ['status', 'closed', 'open', 'open'],
  ['resolved', 'settled', 'closed', 'closed'],
])('an event is of the type %s by the status and the one logged before', (type, status, before, previous) => {
  expect(eventOf(status, before)).toMatchObject({ type, status, previous_status: previous, payouts: null });
});
