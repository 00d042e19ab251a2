import { z } from 'zod';
import { textParam } from '../core/fields.ts';

/** Text sent in a header of each call: characters that headers cannot carry would make every order fail. */
export const headerText = (max: number) =>
  textParam(max).regex(/^[!-~]+$/, { error: `text of 1 to ${max} ASCII characters without spaces` });

const SECRET_BYTES = 16;

/** A base64 or base64url secret of at least SECRET_BYTES bytes. */
export function base64Secret() {
  const error = `a base64 secret of at least ${SECRET_BYTES} bytes, including its padding`;
  return z
    .string({ error })
    .trim()
    .regex(/^[A-Za-z0-9+/_-]{16,512}={0,2}$/, { error })
    .refine((text) => text.length % 4 === 0 && Buffer.from(text, 'base64').length >= SECRET_BYTES, { error });
}

/** Lists the known fields when it gets another one. */
export function credentialForm<S extends z.ZodRawShape>(shape: S) {
  const names = Object.keys(shape).join(', ');
  const error = ({ code }: { code?: string }) =>
    code === 'unrecognized_keys' ? `only the fields ${names}` : `an object of ${names}`;
  return z.strictObject(shape, { error });
}

/** Checks over several fields run even if others fail, so that one answer lists every error. */
export const ALWAYS = { when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null };

/** Whether a field is valid by itself. */
export function readFields({ issues }: z.RefinementCtx): (field: string) => boolean {
  const failed = new Set(issues.map(({ path }) => path?.[0]));
  return (field) => !failed.has(field);
}
