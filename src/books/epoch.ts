import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Platform } from '../core/model.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';

const EpochRow = z.object({ epoch: z.number() });
const SeenRow = z.object({ ref: z.string(), seen_at: z.string() });

interface BookEpoch {
  epoch: number;
  /** When previous processes last saw each market, ISO-8601, by ref. */
  seenAt: Map<string, string>;
}

/** Opens the next epoch of a platform's books: late rows of a previous process never have a sequence of this one. */
export async function openBookEpoch(clickhouse: ClickHouse, platform: Platform): Promise<BookEpoch> {
  const rows = await clickhouse.query('log_epochs', EpochRow, { feed: 'books', platform, from: 0 });
  const epoch = (rows.at(-1)?.epoch ?? 0) + 1;
  const opener = randomUUID();
  const row = { feed: 'books', platform, epoch, opener, previous_end: 0 };
  await clickhouse.insert('log_epochs (feed, platform, epoch, opener, previous_end)', [row]);
  const seen = await clickhouse.query('books_seen', SeenRow, { platform });
  return { epoch, seenAt: new Map(seen.map(({ ref, seen_at: at }) => [ref, at])) };
}
