import { z } from 'zod';
import { answerMeta, completenessFields, platformField } from './markets.ts';

const FileAnswer = z
  .object({
    path: z.string().describe('Under /v1/api/files/'),
    dataset: z.string().describe('trades, candles_1m, candles_1h, markets, quotes or book_changes'),
    platform: platformField,
    date: z.string().describe('UTC day, like 2026-11-20'),
    rows: z.int().describe('Number of rows'),
    bytes: z.int().describe('Number of bytes'),
    sha256: z.string().describe('SHA-256 of the file in hexadecimal; also its ETag'),
    schema_version: z.int().describe("Number of the columns' definition; columns may be added under the same number"),
    revision: z.int().describe('Number of the revision of the content, from 1'),
    complete: z
      .boolean()
      .describe(
        'true when the day is over, its trades are all stored and no gap is open; late trades still make a new revision. Files of markets, quotes and book_changes state it of the trades too, not of their own rows',
      ),
  })
  .meta({ id: 'DayFile', description: 'The rows of one dataset, platform and UTC day, as Parquet (zstd)' });

export const FilesAnswer = z
  .object({
    files: z.array(FileAnswer).describe('By path'),
    meta: answerMeta({
      platforms: z
        .array(z.object({ platform: platformField, ...completenessFields }))
        .describe('How complete the trades of each platform are, over all files; bars as trades'),
    }),
  })
  .meta({ id: 'DayFileList' });
