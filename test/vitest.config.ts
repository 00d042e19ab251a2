import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import { CHROMIUM } from './helpers/chromium-path.ts';
import { RunReporter } from './helpers/run-reporter.ts';

/** Files about several processes and about servers that go away: `npm run test:stores` runs them, on real servers. */
const ON_SERVERS = ['orders/processes', 'service/{outages,redis,several-processes,several-streams}'];
/** The explorer's pages in a browser. */
const IN_BROWSER = ['long/explorer/{failures,session}'];
const { CI, DATABASE_URL, REDIS_URL } = process.env;
if (CHROMIUM === undefined && CI) throw new Error('Chromium is not installed: with CI set every test must run');
const onServers = DATABASE_URL && REDIS_URL ? [] : ON_SERVERS;
const inBrowser = CHROMIUM === undefined ? IN_BROWSER : [];
/** Why this run leaves files out; printed at its end. */
const reasons = [
  ...onServers.map((name) => `${name}: DATABASE_URL and REDIS_URL are not set (npm run test:stores)`),
  ...inBrowser.map((name) => `${name}: Chromium is not installed`),
];

/** Small files that take minutes. Without times of an earlier run vitest starts the largest files first, and these last. */
const SLOWEST =
  /\/(?:several-streams|kills|live-oracle|crash|thaw|demo-day|fuzz|pipeline|dirty|upstream-attack|session|demo|dashboards|analytics-simulated)\.test\.ts$/;

class SlowestFirst extends BaseSequencer {
  override async sort(files: Parameters<BaseSequencer['sort']>[0]): ReturnType<BaseSequencer['sort']> {
    const sorted = await super.sort.call(this, files);
    const isSlow = ({ moduleId }: (typeof files)[number]): boolean => SLOWEST.test(moduleId);
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    exclude: [...onServers, ...inBrowser].map((name) => `test/${name}.test.ts`),
    reporters: ['default', new RunReporter(reasons)],
    globalSetup: 'test/helpers/shared-stores.ts',
    // Child processes own the native engine, so plain forks suffice; two, because the smallest machine has two cores.
    pool: 'forks',
    maxWorkers: 2,
    sequence: { sequencer: SlowestFirst },
    // Compiled modules are kept in node_modules by their content: compiling them takes longer than most files.
    experimental: { fsModuleCache: true },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A poll that finds what it waits for ends at once; the limit ends a test that fails, and outlasts the stalls of a busy machine.
    expect: { poll: { timeout: 60_000 } },
    env: { LOG_LEVEL: 'warn', UV_THREADPOOL_SIZE: '16' },
  },
});
