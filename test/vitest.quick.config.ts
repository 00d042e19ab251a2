import { mergeConfig } from 'vitest/config';
import all from './vitest.config.ts';

/** Memory is measured with nothing beside: `npm run test:soak`. */
const SOAK = 'test/service/soak.test.ts';
/** What `npm test` leaves to `npm run test:long`: files that kill processes, wait in real time, compare whole worlds or add a platform. */
export const LONG = [
  'books/recorded',
  'files/{day-files,export-process,late-trade,s3}',
  'cli/{account-commands,arguments,backup,verify}',
  'explorer/{failures,numbers,pages,reading,stream,trader}',
  'http/{any-address,columnar,fuzz,hostile-input,openapi-client}',
  'ingest/{crash,faults,last-trades,long-runs}',
  'present/kills',
  'orders/{crash,default-clients,idempotency,kill-switch,never-sent,private-sockets,secrets}',
  'orders/{limitless,polymarket}/http',
  'orders/kalshi/orders',
  'platforms/*/pipeline',
  'platforms/fourth/fourth',
  'platforms/kalshi/{no-socket,socket-books,sockets}',
  'platforms/polymarket/{sockets,without-version-1}',
  'platforms/limitless/{book-batches,sockets}',
  'platforms/{http,http-shares,http-spacing}',
  'queries/{analytics,analytics-crash,analytics-edges,analytics-simulated,historical-metrics,price-history,whale-trades}',
  'service/{dashboards,demo,graceful-stop,prometheus,readme,settings,thaw,upstream-attack}',
  'sql-port/{attacks,client,service}',
  'streams/{announced-books,books,connections,endings,event-log,kills,leaving,live-oracle,quotes,trades,user-limits}',
  'stores/{clickhouse-process,embedded-clickhouse-results,embedded-postgres-crash,retention}',
].map((name) => `test/${name}.test.ts`);

// Loading the modules takes longer than most of these files: the files of a worker share them.
export default mergeConfig(all, { test: { isolate: false, exclude: [...LONG, SOAK] } });
