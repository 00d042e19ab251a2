import { z } from 'zod';

/** A row of sql/queries/market_names.sql: what a stored market is called. */
export const MarketNameRow = z.object({
  market_key: z.string(),
  market_id: z.string(),
  title: z.string(),
  source_url: z.string(),
  image_url: z.string(),
});
export type MarketNameRow = z.infer<typeof MarketNameRow>;
