import { z } from 'zod';
import { answerMeta, marketIdField, Pagination, platformField, timeField, timeOrNull } from './markets.ts';

/** Schemas of recorded order books in endpoints and streams. */
const BookLevelChange = z.object({
  side: z.enum(['bid', 'ask']).describe('Side of the book'),
  price: z.number().describe('0..1, of the first outcome'),
  size: z.number().describe('Contracts or shares at this level; 0 removes the level'),
});

/** Fields of every book message. */
export const bookChangeFields = {
  platform: platformField,
  market_id: marketIdField,
  outcome: z.string().describe('Id of the first outcome; the book of the second is its complement'),
  changes: z.array(BookLevelChange).describe('Changed levels with their new sizes'),
  exchange_at: timeOrNull("The platform's time", 'if it gives none'),
  received_at: timeField.describe('When this service received it, ISO-8601'),
};

export const BookChangeAnswer = z
  .object({
    ...bookChangeFields,
    sequence: z.int().describe('Number of the message; increases with each message of a market'),
    is_snapshot: z.boolean().describe('true: `changes` is the whole book, which begins a recorded period'),
    polled: z.boolean().describe('true if found by polling; false if sent by the platform'),
  })
  .meta({ id: 'BookChangeMessage', description: 'Levels of a recorded order book that changed at once' });

export const BookChangesAnswer = z
  .object({
    book_changes: z.array(BookChangeAnswer).describe('Oldest first'),
    pagination: Pagination,
    meta: answerMeta({
      market_id: marketIdField,
      platform: platformField,
    }),
  })
  .meta({ id: 'BookChangeList' });
