import { z } from 'zod';
import { outcomeName } from '../platforms/market-fields.ts';
import { marketsOfKeys } from '../present/read.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Postgres } from '../stores/postgres/client.ts';
import { jsonText } from './market-rows.ts';

/** Names of a market; for one that is not listed yet, only its reference. */
export interface MarketName {
  market_id: string;
  title: string;
  outcome_name: string | null;
  source_url: string;
  image_url: string;
}

/** What is read of the facts of a market in `present/rows.ts`. */
const Facts = z.object({
  platform_id: z.string(),
  title: z.string(),
  source_url: z.string(),
  image_url: z.string(),
  info_metadata: jsonText,
});
const RefRow = z.object({ market_key: z.string(), ref: z.string() });

export interface NameStores {
  clickhouse: Pick<ClickHouse, 'query'>;
  postgres: Pick<Postgres, 'db'>;
}

/** The names of markets by key. One statement, and another one if some are not listed yet. */
export async function marketNames(
  { clickhouse, postgres }: NameStores,
  rows: readonly { market_key: string }[],
): Promise<Map<string, MarketName>> {
  const asked = [...new Set(rows.map((row) => row.market_key))];
  const names = new Map<string, MarketName>();
  for (const [key, { info }] of await marketsOfKeys(postgres, asked)) {
    const { platform_id: market_id, info_metadata: metadata, ...facts } = Facts.parse(JSON.parse(info));
    names.set(key, { market_id, ...facts, outcome_name: outcomeName(metadata) });
  }
  const keys = asked.filter((key) => !names.has(key)).map(BigInt);
  if (keys.length === 0) return names;
  for (const { market_key: key, ref } of await clickhouse.query('market_refs', RefRow, { keys })) {
    names.set(key, { market_id: ref, title: '', outcome_name: null, source_url: '', image_url: '' });
  }
  return names;
}
