import { z } from 'zod';

/** The JSON answer of POST /v1/api/sql. */
export const SqlAnswer = z
  .object({
    meta: z
      .array(
        z.object({ name: z.string().describe('Name of the column'), type: z.string().describe('ClickHouse type') }),
      )
      .describe('The columns'),
    data: z.array(z.array(z.unknown())).describe('Rows; 64-bit integers and decimals as text'),
    rows: z.int().describe('Number of rows in data'),
  })
  .loose()
  .meta({ id: 'SqlResult', description: "ClickHouse's JSONCompact" });
