import { z } from 'zod';
import { ONE_PRICE } from '../../core/decimal.ts';
import { ADDRESS } from '../../core/text.ts';
import type { ListPage } from '../list-pages.ts';
import { wirePrice } from '../parse-rows.ts';
import { conditionRef } from './protocol.ts';

/**
 * Rows as Polymarket sends them, reduced to the fields that are used. Unknown keys are ignored; an absent key is unknown, never zero;
 * Gamma sends '' where other platforms send null.
 */

export const unitPrice = wirePrice.refine((value) => value >= 0n && value <= ONE_PRICE, 'expected a price of 0 to 1');
/** A figure that no column holds, as JSON number. */
export const figure = z
  .union([z.number(), z.string().regex(/^-?\d{1,15}(\.\d{1,15})?$/, 'not a decimal')])
  .transform(Number);
/** Decimal ids are strings, but some routes send them as numbers. */
export const id = z.union([z.string().min(1), z.int().nonnegative().transform(String)]);
/** 0x and 40 hex digits, in lower case. */
export const address = z
  .string()
  .regex(ADDRESS)
  .transform((value) => value.toLowerCase());
/** 0x and 64 hex digits; Gamma's 62-digit spelling of Protocol V2 is converted. */
export const conditionId = z
  .string()
  .regex(/^0x([0-9a-f]{62}|[0-9a-f]{64})$/i)
  .transform(conditionRef);
export const tokenId = z.string().regex(/^\d{1,78}$/);
export const wireSide = z
  .string()
  .toUpperCase()
  .pipe(z.enum(['BUY', 'SELL']));

export const cursor = z
  .string()
  .nullish()
  .transform((value) => value ?? '');
/** A page of unparsed rows. */
export interface Page extends ListPage {
  rows: unknown[];
}
export const rows = z.array(z.unknown());
