import { TupleParam } from '@clickhouse/client';
import { z } from 'zod';
import { outcomeName } from '../platforms/market-fields.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Platform } from '../core/model.ts';
import { jsonText } from './market-rows.ts';

/** Names of a market; for one that is not listed yet, only its reference. */
export interface MarketName {
  market_id: string;
  title: string;
  outcome_name: string | null;
  source_url: string;
  image_url: string;
}

const NameRow = z.object({
  market_key: z.string(),
  market_id: z.string(),
  title: z.string(),
  metadata: jsonText,
  source_url: z.string(),
  image_url: z.string(),
});
const RefRow = z.object({ market_key: z.string(), ref: z.string() });

/** The names of markets by key. */
export async function marketNames(
  clickhouse: ClickHouse,
  rows: readonly { platform: Platform; market_key: string }[],
): Promise<Map<string, MarketName>> {
  const names = new Map<string, MarketName>();
  const platforms = new Map(rows.map((row) => [row.market_key, row.platform]));
  if (platforms.size === 0) return names;
  const markets = [...platforms].map(([key, platform]) => new TupleParam([platform, BigInt(key)]));
  for (const row of await clickhouse.query('market_names', NameRow, { markets })) {
    names.set(row.market_key, { ...row, outcome_name: outcomeName(row.metadata) });
  }
  const keys = [...platforms.keys()].filter((key) => !names.has(key)).map(BigInt);
  if (keys.length === 0) return names;
  for (const { market_key: key, ref } of await clickhouse.query('market_refs', RefRow, { keys })) {
    names.set(key, { market_id: ref, title: '', outcome_name: null, source_url: '', image_url: '' });
  }
  return names;
}
