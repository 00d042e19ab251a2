import type { TargetRow } from '../targets.ts';
import type { Beside, Mix, Quantiles, ReadsResult } from './reads.ts';
import { READ_ROUTES } from './routes.ts';

const NONE = { p50: NaN, p99: NaN };
const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0);
const times = ({ p50, p99 }: Quantiles = NONE): string => (Number.isNaN(p50) ? 'not asked' : `${ms(p50)} · ${ms(p99)}`);
const ratio = (value: number): string => value.toFixed(2);

const row = ({ ours, peer }: Beside<Mix>) => ({
  ours: ours.perSecond.toFixed(0),
  'plain peer': peer.perSecond.toFixed(0),
  ratio: ratio(ours.perSecond / peer.perSecond),
});

/** Prints the tables of a run. */
export function printReads(result: ReadsResult): void {
  const { trades, markets, quiet, busy, oneByOne, postgresMb, filledSeconds } = result;
  process.stdout.write(
    `\nUncached reads of random markets over 16 connections: ${markets} markets, ${trades} trades (filled in ${filledSeconds.toFixed(0)} s)\n`,
  );
  console.table({ 'mix, requests/s': row(quiet), 'with 100 trades/s': row(busy) });
  process.stdout.write('Milliseconds of each route in the mix, p50 · p99\n');
  console.table(
    Object.fromEntries(
      READ_ROUTES.map(({ name }) => [
        name,
        {
          quiet: times(quiet.ours.routes[name]),
          'with 100 trades/s': times(busy.ours.routes[name]),
          'plain peer': times(quiet.peer.routes[name]),
          'peer, with 100 trades/s': times(busy.peer.routes[name]),
        },
      ]),
    ),
  );
  process.stdout.write('One call after another, p50 · p99\n');
  console.table(
    Object.fromEntries(
      Object.entries(oneByOne).map(([name, { ours, peer }]) => [
        name,
        { ours: times(ours), 'plain peer': times(peer) },
      ]),
    ),
  );
  process.stdout.write(`Embedded PostgreSQL: ${postgresMb.toFixed(0)} MB\n`);
}

const ONE_BY_ONE_MS: Record<string, number> = { 'markets/id': 2, lists: 6, 'newest trades': 4 };

/** The figures of a run that have a target. */
export function readsTargets({ busy, oneByOne, postgresMb, markets }: ReadsResult): TargetRow[] {
  const { ours, peer } = busy;
  const slowest = (kind: 'present' | 'history', figure: keyof Quantiles): number =>
    Math.max(...READ_ROUTES.filter((route) => route.kind === kind).map(({ name }) => ours.routes[name]?.[figure] || 0));
  const both = (kind: 'present' | 'history'): string => `${ms(slowest(kind, 'p50'))} · ${ms(slowest(kind, 'p99'))}`;
  return [
    {
      figure: 'mix of uncached reads with ingestion: requests/s, ÷ a plain peer',
      now: `${ours.perSecond.toFixed(0)}, ${ratio(ours.perSecond / peer.perSecond)}`,
      target: '>= 250, >= 0.5',
    },
    { figure: 'the slowest read of the present in it, p50 · p99, ms', now: both('present'), target: '<= 8 · <= 40' },
    { figure: 'the slowest read of history in it, p50 · p99, ms', now: both('history'), target: '<= 60 · <= 250' },
    ...Object.entries(oneByOne).map(([name, one]) => ({
      figure: `${name}, one call after another, p50, ms`,
      now: ms(one.ours.p50),
      target: `<= ${ONE_BY_ONE_MS[name]}`,
    })),
    {
      figure: `embedded PostgreSQL at ${markets} markets, MB`,
      now: postgresMb.toFixed(0),
      target: '<= 90 at 50,000',
    },
  ];
}
