import type { FastifyBaseLogger } from 'fastify';
import { z } from 'zod';
import type { Clock } from '../../src/core/time.ts';
import { type Platform, PLATFORMS } from '../../src/core/model.ts';
import { SpacedCall } from '../../src/core/spaced-call.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import type { FollowedMarket } from './quote-publisher.ts';

const EVERY_MS = 2000;
/** Markets of a platform per read. */
const BATCH = 500;

/** Last stored price of the first outcome, and total volume. */
export const StoredPrice = z.object({
  ref: z.string(),
  price: z.string().nullable(),
  volume_total: z.string().nullable(),
});

/** A row of sql/queries/socket_quotes.sql. */
export const QuotedPrice = StoredPrice.extend({ of_platform: z.enum(PLATFORMS) });

export interface FollowedPricesDeps {
  clock: Clock;
  clickhouse: Pick<ClickHouse, 'query'>;
  log: FastifyBaseLogger;
}

/** The followed markets of one platform. */
interface Selection {
  /** By reference; replaced by another map when they are selected again. */
  followed: () => Map<string, FollowedMarket>;
  /** Whether a selection is under way: it may have read values that are older than what is stored by now. */
  isChoosing: () => boolean;
}

interface Member extends Selection {
  platform: Platform;
  /** Followed markets whose stored values may be newer. */
  due: Set<string>;
}

/** Reads prices and volumes of followed markets again after new ones were stored: for all platforms at once, at most every two seconds. */
export class FollowedPrices {
  readonly #deps: FollowedPricesDeps;
  readonly #members = new Set<Member>();
  readonly #reading: SpacedCall;
  #isReading = false;

  constructor(deps: FollowedPricesDeps) {
    this.#deps = deps;
    this.#reading = new SpacedCall(deps.clock, EVERY_MS, () => void this.#read());
  }

  /** Keeps the prices of a platform's followed markets up until `stop`. */
  join(platform: Platform, selection: Selection): { stored: (refs: Iterable<string>) => void; stop: () => void } {
    const member: Member = { platform, ...selection, due: new Set() };
    this.#members.add(member);
    return {
      /** Markets that were stored with another price or volume; those that are not followed are ignored. */
      stored: (refs) => {
        const followed = member.followed();
        for (const ref of refs) if (followed.has(ref)) member.due.add(ref);
        this.#ask();
      },
      stop: () => {
        this.#members.delete(member);
        if (this.#members.size === 0) this.#reading.cancel();
      },
    };
  }

  #ask(): void {
    const isSomeDue = [...this.#members].some(({ due }) => due.size > 0);
    if (isSomeDue && !this.#isReading) this.#reading.ask();
  }

  async #read(): Promise<void> {
    const { clickhouse, log } = this.#deps;
    const taken = [...this.#members].flatMap((member) => (member.isChoosing() ? [] : take(member)));
    this.#isReading = taken.length > 0;
    try {
      const markets = taken.flatMap(({ member, refs }) => refs.map((ref) => [member.platform, ref] as const));
      const params = { platforms: markets.map(([platform]) => platform), refs: markets.map(([, ref]) => ref) };
      const rows = markets.length === 0 ? [] : await clickhouse.query('socket_quotes', QuotedPrice, params);
      for (const { member, followed, refs } of taken) {
        // The selection changed during the read: new markets may have newer values than these rows.
        if (followed !== member.followed()) for (const ref of refs) member.due.add(ref);
        else
          keep(
            followed,
            rows.filter((row) => row.of_platform === member.platform),
          );
      }
    } catch (error) {
      for (const { member, refs } of taken) for (const ref of refs) member.due.add(ref);
      log.warn({ err: error }, 'Failed to read the stored prices of followed markets; retrying');
    }
    this.#isReading = false;
    this.#ask();
  }
}

/** Takes the due markets of a platform, at most BATCH. */
function take(member: Member) {
  const refs = [...member.due].slice(0, BATCH);
  for (const ref of refs) member.due.delete(ref);
  return refs.length === 0 ? [] : [{ member, followed: member.followed(), refs }];
}

function keep(followed: Map<string, FollowedMarket>, rows: readonly z.output<typeof StoredPrice>[]): void {
  for (const { ref, price, volume_total: volumeTotal } of rows) {
    const known = followed.get(ref);
    if (known) followed.set(ref, { ...known, price, volumeTotal });
  }
}
