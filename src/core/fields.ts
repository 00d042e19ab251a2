import { z } from 'zod';

/** Query values arrive as text, body values as numbers: both are accepted, nothing else is. */
export const toNumber = (value: unknown): unknown =>
  typeof value === 'string' && /^[+-]?\d{1,30}(\.\d{1,30})?$/.test(value) ? Number(value) : value;

/** One of a few integers, as number or text. */
export function integerOf<const N extends readonly number[]>(values: N): z.ZodType<N[number], unknown> {
  const error = `one of ${values.join(', ')}`;
  return z.preprocess(toNumber, z.literal(values, { error }));
}

/** Text of 1 to `max` characters, trimmed. */
export function textParam(max = 200) {
  const error = `text of 1 to ${max} characters`;
  return z.string({ error }).trim().min(1, { error }).max(max, { error });
}

/** false for what the store does not take, or would give back as another text. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** Text that is stored. */
export const storedTextParam = (max: number) =>
  textParam(max).refine(isStorable, {
    error: `text of 1 to ${max} characters of valid Unicode without NUL`,
  });
