import { z } from 'zod';

/** What POST /v1/api/sql answers as JSON. */
export const SqlAnswer = z
  .object({
    meta: z
      .array(z.object({ name: z.string().describe('Of the column'), type: z.string().describe("ClickHouse's type") }))
      .describe('The columns'),
    data: z.array(z.array(z.unknown())).describe('Rows; 64-bit integers and decimals as text'),
    rows: z.int().describe('Number of rows in data'),
  })
  .loose()
  .meta({ id: 'SqlResult', description: "ClickHouse's JSONCompact" });
