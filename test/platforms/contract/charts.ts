import { expect, test } from 'vitest';
import { systemClock } from '../../../src/core/time.ts';
import { isSound, verifyRollups } from '../../../src/stores/clickhouse/verify-rollups.ts';
import { INTERVAL_SECONDS } from '../../../src/core/model.ts';
import { MERGED_INTERVALS, mergedBars, minutesOf, withoutQuotes } from '../../oracle/bars.ts';
import { passes } from '../../helpers/flowing-clock.ts';
import type { ServedPoint } from '../../oracle/pipeline.ts';
import type { Stage } from './stage.ts';
import type { Span } from './truth.ts';

const DAY = 86_400;

interface Answer {
  data: ServedPoint[];
  meta: { complete: boolean; source: string };
}

const read = (stage: Stage, ids: string, { fromTs, toTs }: Omit<Span, 'id'>, stepMin: number): Promise<Answer> =>
  stage.service.get(
    `markets/price-history?${stage.provider}&market_ids=${ids}&start_ts=${fromTs}&end_ts=${toTs}&interval=${stepMin}&limit=5000`,
  );

export function chartTests(stage: () => Stage): void {
  test('a day is returned whole, wherever in it the range ends', async () => {
    const { truth } = stage();
    const today = Math.floor(truth.clock.now() / 1000 / DAY) * DAY;
    const ids = truth.trading();
    let compared = 0;
    for (let ago = 1; ago < 12 && compared < 6; ago += 1) {
      const fromTs = today - ago * DAY;
      const id = ids[(ago - 1) % ids.length]!;
      const points = truth.history({ id, fromTs, toTs: fromTs + DAY }, 1440);
      const { data } = await read(stage(), id, { fromTs, toTs: fromTs + DAY / 2 }, 1440);
      expect(data).toEqual(points);
      compared += points.length;
    }
    expect(compared).toBeGreaterThan(3);
  });

  test.each([1, 60, 1440])('price history of %i minutes is right bucket by bucket', async (stepMin) => {
    const { truth } = stage();
    const charts = truth.charts(stepMin);
    for (const span of charts) {
      // A platform's bars are read once a minute: another request may have read them before the newest.
      await passes(
        stage().service.clock,
        async () => {
          const { data, meta } = await read(stage(), span.id, span, stepMin);
          expect(meta).toMatchObject({ complete: true, source: 'trades' });
          expect(data.length).toBeGreaterThan(0);
          expect(data).toEqual(truth.history(span, stepMin));
        },
        90_000,
        5000,
      );
    }
    const [first, second] = charts as [Span, Span];
    const other = truth.spellings(second.id).at(-1) ?? second.id;
    const both = await read(stage(), `${first.id},${other}`, first, stepMin);
    const times = [first, second].flatMap((span) => truth.history(span, stepMin).map(({ timestamp }) => timestamp));
    expect(both.data.map(({ timestamp }) => timestamp)).toEqual(times.toSorted((a, b) => a - b));
  });

  test.each(MERGED_INTERVALS)(
    'bars of %s have the prices of those minutes alone in which something traded',
    async (interval) => {
      const { service, truth } = stage();
      const stepMin = minutesOf(interval);
      let [quiet, compared] = [0, 0];
      for (const span of truth.mergedCharts(stepMin)) {
        const points = withoutQuotes(truth.history(span, stepMin));
        expect(await mergedBars(service, { platform: truth.platform, id: span.id }, interval, span)).toEqual(points);
        compared += points.length;
        quiet += points.filter(({ price }) => price.close === null).length;
      }
      expect(compared - quiet).toBeGreaterThan(10);
      if (truth.hasBars) expect(quiet).toBeGreaterThan(10);
      else expect(quiet).toBe(0);
    },
  );

  test('npm run verify finds roll-ups, bars and the trades of the same minutes to agree', async () => {
    const { service, truth } = stage();
    const { results } = await verifyRollups(service.clickhouse, { clock: systemClock });
    expect(results.filter((one) => !isSound(one))).toEqual([]);
    const bars = results.filter(({ rollup }) => rollup.startsWith('bars of '));
    expect(bars.map(({ rollup, compared }) => [rollup, compared > 10])).toEqual(
      Object.keys(INTERVAL_SECONDS).map((interval) => [`bars of ${interval}`, truth.hasBars]),
    );
  });
}
