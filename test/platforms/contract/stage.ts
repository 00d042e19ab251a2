import { eventually, largePage, type Pipeline, type ServedMarket } from '../../oracle/pipeline.ts';
import type { Difference } from '../../oracle/vocabulary.ts';
import type { PlatformTruth } from './truth.ts';

const TRADES_AT_ONCE = 20;

/** A platform's simulated world and the service that reads it. */
export class Stage<T extends PlatformTruth = PlatformTruth> {
  readonly truth: T;
  readonly service: Pipeline;
  /** Query of the platform's lists. */
  readonly provider: string;

  constructor(truth: T, service: Pipeline) {
    this.truth = truth;
    this.service = service;
    this.provider = `provider=${truth.platform}`;
  }

  /** One market as it is served. */
  async market(id: string, query = ''): Promise<ServedMarket> {
    const path = `markets/id/${id}?${this.provider}${query}`;
    const { markets } = await this.service.get<{ markets: [ServedMarket] }>(path);
    return markets[0];
  }

  /** Every listed market; `query` filters and sorts. */
  async markets(query: string): Promise<ServedMarket[]> {
    return (await this.service.markets(`${this.provider}&${query}`, largePage())).rows;
  }

  /** Every market as it is served against the truth. */
  async wrongMarkets(): Promise<Difference[]> {
    const rows = await this.markets('sort=created');
    const served = new Map(rows.map((row) => [row.platform_id, row]));
    const truth = new Set(this.truth.listed());
    const wrong = [...truth].flatMap((id) => this.truth.wrongFields(id, served.get(id)));
    const extra = rows.filter((row) => !truth.has(row.platform_id) && !this.truth.mayBeServed(row));
    return [...wrong, ...extra.map((row) => ({ id: row.id, field: '', served: row.status, expected: 'nothing' }))];
  }

  /** Trades of the store against those of the world, by id. */
  async strayTrades(): Promise<string[]> {
    this.truth.listed();
    const rows = await this.service.clickhouse.sql<{ id: string }>('SELECT trade_id AS id FROM trades');
    const stored = new Set(rows.map(({ id }) => id));
    const truth = new Set(this.truth.tradeIds());
    const doubled = rows.length - stored.size;
    return [
      ...[...truth].filter((id) => !stored.has(id)).map((id) => `missing ${id}`),
      ...[...stored].filter((id) => !truth.has(id)).map((id) => `invented ${id}`),
      ...(doubled > 0 ? [`${doubled} rows twice`] : []),
    ];
  }

  wrongTrades(ids: readonly string[] = this.truth.trading()): Promise<Difference[]> {
    return this.truth.wrongTrades(this.service, ids);
  }

  /** What is wrong once the service had the time to catch up: trades that are missing or too many, then markets. */
  async wrongAfterAll(): Promise<(Difference | string)[]> {
    return [
      ...(await this.eventually(() => this.strayTrades())),
      ...(await this.eventually(() => this.wrongMarkets())),
    ];
  }

  /** What a check finds last, by the service's time. */
  eventually<F>(check: () => Promise<F[]>, seconds?: number): Promise<F[]> {
    return eventually(check, seconds, this.truth.clock.service);
  }

  trade(count: number): void {
    this.truth.sim.trade(count);
    this.truth.listed();
  }

  /** Trading on the service's time for a while; then the world stands still to be compared. */
  async live(trades: number): Promise<void> {
    this.truth.clock.run();
    for (let left = trades; left > 0; left -= TRADES_AT_ONCE) {
      this.trade(Math.min(TRADES_AT_ONCE, left));
      await this.truth.clock.service.sleep(100);
    }
    this.truth.clock.stop();
  }
}
