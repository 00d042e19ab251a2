import type { MarketRecord } from '../../src/core/model.ts';
import type { BadRow } from '../../src/platforms/contract.ts';

export type Row = Record<string, unknown>;

/** Of types that no field has, and of types that some have. */
export const ODD: readonly unknown[] = [3, -1.5, 1_790_000_000, 'odd', '', true, {}, { a: 1 }, [], [3], [[{}]], null];

/** Without what is kept as received. */
export const stored = ({ info, state, event, series }: MarketRecord) => ({ info, state, event, series });

export const without = (row: Row, field: string): Row =>
  Object.fromEntries(Object.entries(row).filter(([key]) => key !== field));

/** Whether a warning names this field, or a part of it. */
export const isWarned = (warnings: readonly BadRow[], field: string): boolean =>
  warnings.some((one) => one.field !== undefined && new RegExp(`^${field}(\\W|$)`).test(one.field));
