import type { Log } from '../../src/core/log.ts';
import { z } from 'zod';
import type { Platform } from '../../src/core/model.ts';
import type { MarketFacts } from '../../src/matching/facts.ts';
import { factsOf } from '../../src/matching/judge.ts';
import { textsOf } from '../../src/matching/market.ts';
import { outcomeName } from '../../src/platforms/market-fields.ts';
import { InfoText } from '../../src/queries/market-rows.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';

/** A market to be read, and the hash of its texts. */
export const DueRow = z.object({ market_key: z.string(), texts: z.string() });
export type DueRow = z.infer<typeof DueRow>;

/** Other columns are read later, market by market, so that an unreadable market does not affect others. */
const QuestionRow = z.looseObject({ market_key: z.string(), category_slug: z.string() });

/** What was read of a market; without facts if it is of no known kind. */
export interface ReadMarket {
  key: string;
  platform: Platform;
  texts: string;
  eventId: string;
  categorySlug: string;
  facts: MarketFacts | null;
}

/** Reading facts takes up to a millisecond a market: other work of the process gets its turn after this many. */
const AT_ONCE = 20;

/** Reads the facts of these markets. One whose row is gone is left out; one that cannot be read has no facts. */
export async function readMarkets(
  clickhouse: Pick<ClickHouse, 'query'>,
  platform: Platform,
  due: readonly DueRow[],
  log: Log,
): Promise<ReadMarket[]> {
  const keys = due.map(({ market_key: key }) => BigInt(key));
  const rows = await clickhouse.query('questions', QuestionRow, { platform, keys });
  const found = new Map(rows.map((row) => [row.market_key, row]));
  const read: ReadMarket[] = [];
  for (const [at, { market_key: key, texts }] of due.entries()) {
    if (at % AT_ONCE === AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve));
    const row = found.get(key);
    if (!row) continue;
    const market = { key, platform, texts, categorySlug: row.category_slug };
    try {
      const info = InfoText.parse(row);
      read.push({ ...market, eventId: info.event_id, facts: factsOfInfo(platform, info) });
    } catch (error) {
      log.warn({ err: error, platform, key }, 'The question of a market could not be read');
      read.push({ ...market, eventId: '', facts: null });
    }
  }
  return read;
}

const factsOfInfo = (platform: Platform, info: z.infer<typeof InfoText>): MarketFacts | null =>
  factsOf(
    textsOf({
      ...info,
      platform,
      outcome_name: outcomeName(info.info_metadata),
      outcomes: info.outcome_ids.map((id, at) => ({ id, name: info.outcome_names[at] ?? '' })),
      metadata: info.info_metadata,
    }),
  );
