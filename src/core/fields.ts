import { z } from 'zod';

/** Query values are text, body values numbers: both are accepted. */
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

/** false for text that the store rejects or would change. */
export const isStorableText = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** Text that is stored. */
export const storedTextParam = (max: number) =>
  textParam(max).refine(isStorableText, {
    error: `text of 1 to ${max} characters of valid Unicode without NUL`,
  });

const EMAIL = /^[^\s@]+@[^\s@]+$/;
const MAX_EMAIL = 254;

/** The e-mail of an account, in lower case. Its form is free: an operator may name an account of a domain without a dot. */
export const accountEmail = (rule: { error: string }) =>
  z.string(rule).trim().toLowerCase().max(MAX_EMAIL, rule).regex(EMAIL, rule).refine(isStorableText, rule);
