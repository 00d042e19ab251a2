import { expect, test } from 'vitest';
import { differences } from '../../oracle/vocabulary.ts';
import type { Stage } from './stage.ts';
import type { PlatformTruth, Row } from './truth.ts';

type Refusal = { error: { status: number; resolution: string } };

/** Before anything trades: the stored objects of a market that trades are up to an hour old. */
export function rawTests(stage: () => Stage): void {
  test('the raw answer holds the platform objects as they were received', async () => {
    const { truth } = stage();
    const [id = ''] = truth.trading();
    const listed = await truth.listedRow(id);
    const wrong = async () => {
      const raw = (await stage().market(id, '&include_raw=true')).raw_data as { market: Row };
      return differences(id, raw.market, listed);
    };
    expect(await stage().eventually(wrong)).toEqual([]);
    const market = await stage().market(id, '&include_raw=true');
    expect(market).toMatchObject(truth.fromParents(market.raw_data as Row));
  });
}

export function recordTests(stage: () => Stage): void {
  /** Once asked for they are known: who tries again looks at the same. */
  let unlisted: ReturnType<PlatformTruth['unlisted']> | undefined;

  test('a market is found by each of its names; an unknown one is not, and an event names its markets', async () => {
    const { service, provider, truth } = stage();
    const [id = ''] = truth.trading();
    for (const name of truth.spellings(id)) {
      expect([name, (await stage().market(name)).platform_id]).toEqual([name, id]);
    }
    const unknown = await service.get<Refusal>(`markets/id/${truth.unknownId}?${provider}`, 404);
    expect(unknown.error.status).toBe(404);
    const event = truth.event();
    const { error } = await service.get<Refusal>(`markets/id/${event.id}?${provider}`, 404);
    expect(error.resolution).toContain(event.market);
  });

  test('a market that no listing shows is fetched when it is asked for, with its trades', async () => {
    const { truth } = stage();
    unlisted ??= truth.unlisted();
    expect(unlisted.length).toBeGreaterThan(0);
    for (const { name, id } of unlisted) {
      await stage().market(name);
      truth.noteAsked(id);
      const wrong = truth.wrongFields(id, await stage().market(id));
      expect(wrong.filter(({ field }) => !truth.unlistedLater.includes(field))).toEqual([]);
    }
    const ids = unlisted.map(({ id }) => id);
    expect(await stage().eventually(() => stage().wrongTrades(ids))).toEqual([]);
  });

  test('order books of both outcomes are the live book; markets that do not trade have empty ones', async () => {
    const { service, provider, truth } = stage();
    for (const id of truth.booked()) {
      const askedMs = stage().truth.clock.service.now();
      const { data } = await service.get<{ data: Row }>(`markets/id/${id}/orderbook?${provider}`);
      const { timestamp, ...book } = data;
      const [fromMs, toMs] = truth.bookDates(id, askedMs);
      expect(Date.parse(String(timestamp))).toBeGreaterThanOrEqual(fromMs);
      expect(Date.parse(String(timestamp))).toBeLessThanOrEqual(toMs);
      expect(book).toEqual({ market_id: id, platform: truth.platform, ...truth.book(id) });
    }
  });
}
