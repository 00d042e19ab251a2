import { z } from 'zod';
import type { ClickHouse, QueryParams } from './client.ts';

const RefRow = z.object({ ref: z.string() });

/** Runs sql/queries/<name>.sql, whose rows are references of markets. */
export async function refsOf(
  clickhouse: Pick<ClickHouse, 'query'>,
  name: string,
  params: QueryParams,
): Promise<string[]> {
  return (await clickhouse.query(name, RefRow, params)).map(({ ref }) => ref);
}
