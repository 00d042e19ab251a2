import type { Platform } from '../../../src/core/model.ts';
import type { ServedBook } from '../../oracle/book.ts';
import type { StoppableClock } from '../../oracle/clock.ts';
import type { EventTruth, SeriesTruth } from '../../oracle/events.ts';
import type { Page, Pipeline, ServedMarket, ServedPoint } from '../../oracle/pipeline.ts';
import type { Difference } from '../../oracle/vocabulary.ts';
import type { Simulator } from '../../simulators/simulator.ts';

export type Row = Record<string, unknown>;
/** [fromTs, toTs) in Unix seconds, of one market. */
export interface Span {
  readonly id: string;
  readonly fromTs: number;
  readonly toTs: number;
}

/** A page of the platform's listing of open markets, as the service asks for it. */
export interface Listing {
  readonly url: string;
  /** Its rows of markets, those inside groups and events too. */
  rows(body: Record<string, Row[]>): Row[];
  idOf(row: Row): unknown;
  /** Makes one row unreadable. */
  spoil(row: Row): void;
  /** A field that every row must have. */
  readonly required: string;
}

/**
 * What is true of one platform: its simulator, and what the service must answer about the simulated world. The contract
 * compares every platform with it; markets are named by the id that users see.
 */
export interface PlatformTruth {
  readonly platform: Platform;
  readonly sim: Simulator<unknown>;
  /** The world's clock; it stands still while answers are compared. */
  readonly clock: StoppableClock;

  /** Markets that must be listed now, as soon as the service has caught up. Lets what is due by the clock happen. */
  listed(): string[];
  /** Listed markets whose trades move, most of all that are open; at least 8. */
  trading(): string[];
  /** Whether a listed record may be there beside `listed()`: somebody asked for it by its id. */
  mayBeServed(row: ServedMarket): boolean;
  /** A served record against the truth of the moment its row was read. */
  wrongFields(id: string, row: ServedMarket | undefined): Difference[];
  /** The kinds of markets that the first listing must show, and those that it shows. */
  readonly kinds: readonly string[];
  kindsOf(rows: readonly ServedMarket[]): string[];
  /** Ways of naming a market in a path. */
  spellings(id: string): string[];
  /** Markets that no listing shows, and the names they are asked for by. */
  unlisted(): { name: string; id: string }[];
  /** Fields that their records may not have at once. */
  readonly unlistedLater: readonly string[];
  /** From now on the service may know of a market that it was asked for. */
  noteAsked(id: string): void;
  readonly unknownId: string;
  /** Every event and series that the service may know. */
  events(): EventTruth[];
  series(): SeriesTruth[];
  /** The states that events must be seen in. */
  readonly eventStates: readonly string[];
  /** An event and one of its markets. */
  event(): { id: string; market: string };
  /** Words of which some markets have all in title or description. */
  readonly words: readonly string[];
  /** The platform's own row of a market, as its listing shows it now. */
  listedRow(id: string): Promise<Row>;
  /** Fields of the record that come from other objects of `raw_data`. */
  fromParents(raw: Row): Partial<ServedMarket>;

  tradeIds(): string[];
  /** Every trade that is served of these markets, or of more, against those of the world. */
  wrongTrades(service: Pipeline, ids: readonly string[]): Promise<Difference[]>;
  /** Trades of one market by pages. */
  trades(
    service: Pipeline,
    page: { id: string; limit: number; between?: () => unknown },
  ): Promise<{ ids: string[]; pages: Page[] }>;

  /** Markets whose books are compared: that trade, and that do not. */
  booked(): string[];
  book(id: string): ServedBook;
  /** Between which times the book that was asked for at `askedMs` may be dated, Unix ms. */
  bookDates(id: string, askedMs: number): [fromMs: number, toMs: number];

  /** Price history of whole buckets. */
  history(span: Span, stepMin: number): ServedPoint[];
  /** What is charted of 1, 60 and 1440 minutes; the first two are of the same span. */
  charts(stepMin: number): Span[];
  /** Bars that are merged from shorter ones. */
  mergedCharts(stepMin: number): Span[];
  /** Whether the platform has bars of its own: they stand where nothing traded, and `npm run verify` compares them. */
  readonly hasBars: boolean;

  /** Lets markets pause, end and be paid out, and lists new ones; what the ended ones pay by outcome. Called once. */
  changeSome(): { id: string; prices: readonly (number | null)[] }[];

  /** Each endpoint fails in `rounds` ways, from the `first` in the list of faults on. */
  readonly faults: { endpoints: readonly RegExp[]; first: number; rounds: number };
  setDown(down: boolean): void;
  readonly listing: Listing;
}
