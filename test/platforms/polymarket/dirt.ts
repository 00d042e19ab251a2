import { json, type SimReply, type SimRequest } from '../../simulators/lib/index.ts';
import type { Dirt, Excuse } from '../contract/dirty.ts';
import type { Row } from '../contract/truth.ts';
import type { PolymarketTruth } from './truth.ts';

const FAILURE = { type: 'internal error', error: 'cannot get the information' };

/** Fields of market rows that Gamma wrote in other types, and which fields of the answer they concern. */
const ODD_ROWS: readonly { row: Row; excuse: Excuse; names: string }[] = [
  {
    row: { groupItemThreshold: { at: 3 }, resolutionSource: ['x'] },
    excuse: ['metadata', 'resolution_source'],
    names: 'groupItemThreshold',
  },
  { row: { endDate: 1_790_000_000 }, excuse: ['trading_end_at', 'resolution_date'], names: 'endDate' },
  { row: { volume1wk: [], icon: {} }, excuse: ['volume_7d'], names: 'volume1wk' },
];

/**
 * Odd types in three open markets; prices as numbers, and a time with seconds in its offset, in two others; an odd icon of one event; 500
 * for the event of a market that has just ended; copies of one market that stay old. Hidden rows are in the world anyway.
 */
export function polymarketDirt(truth: PolymarketTruth): Dirt {
  const { world } = truth;
  const [first, second, third, priced, timed, framed, stale] = truth.trading();
  const odd = new Map([first, second, third].map((id, n) => [id ?? '', ODD_ROWS[n]!]));
  const eventOf = (id: string | undefined) => world.markets.find((market) => market.id === id)!.event.id;

  truth.clock.run();
  const failing = world.createEvent({ title: 'Which event cannot be read?', tags: [world.catalog.tag('Science')] });
  const neighbour = world.createEvent({ title: 'Which event can be read?', tags: [world.catalog.tag('Science')] });
  const ended = world.createMarket({ question: 'Will this event be read?' }, failing);
  world.resolveMarket(ended, 0);
  world.resolveMarket(world.createMarket({ question: 'Is this event read?' }, neighbour), 1);
  truth.clock.stop();

  const rows = (row: Row): Row => {
    const id = String(row['id']);
    const dirt = odd.get(id)?.row ?? {};
    const prices = id === priced ? { outcomePrices: String(row['outcomePrices']).replaceAll('"', '') } : {};
    const created = id === timed ? { createdAt: String(row['createdAt']).replace('Z', '+00:00:00') } : {};
    return { ...row, ...dirt, ...prices, ...created };
  };
  const events = (row: Row): Row => ({
    ...row,
    ...(row['id'] === eventOf(framed) ? { icon: { url: 'x' }, sport: 'none' } : {}),
    ...(Array.isArray(row['markets']) ? { markets: (row['markets'] as Row[]).map(rows) } : {}),
  });
  const copies = new Map<string, SimReply>();

  return {
    edit(request, reply) {
      if (reply.status !== 200 || !request.path.startsWith('/gamma/')) return reply;
      if (request.path.endsWith('/events/keyset')) {
        if (request.query.getAll('id').includes(failing.id)) return json(500, FAILURE);
        return edited(reply, 'events', events);
      }
      if (request.path.endsWith('/markets/keyset')) {
        const key = isAbout(request, world, stale) ? request.target : '';
        const answer = copies.get(key) ?? edited(reply, 'markets', rows);
        if (key !== '') copies.set(key, answer);
        return answer;
      }
      return reply;
    },
    excused: new Map<string, Excuse>([
      ...[...odd].map(([id, { excuse }]) => [id, excuse] as const),
      [ended.id, ['category', 'subcategory', 'tags', 'series_id', 'metadata']],
    ]),
    named: [
      new RegExp(`event ${failing.id}: could not be read`),
      new RegExp(`event .*${eventOf(framed)}.*: icon: `),
      ...[...odd].map(([id, { names }]) => new RegExp(`market .*${id}.*: ${names}: `)),
    ],
  };
}

/** Whether a request asks for this market by its condition. */
const isAbout = (request: SimRequest, { markets }: PolymarketTruth['world'], id: string | undefined): boolean =>
  request.query
    .getAll('condition_ids')
    .some((asked) => markets.some((one) => one.id === id && one.conditionId === asked));

function edited(reply: SimReply, list: string, edit: (row: Row) => Row): SimReply {
  const body = JSON.parse(reply.body) as Record<string, Row[]>;
  return { ...reply, body: JSON.stringify({ ...body, [list]: (body[list] ?? []).map(edit) }) };
}
