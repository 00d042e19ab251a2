import { z } from 'zod';
import { accountEmail } from '../core/fields.ts';

const emailRule = { error: 'an e-mail address' };
const ABOUT = 'E-mail address, case-insensitive';
/** Of an account that exists. */
export const knownEmail = accountEmail(emailRule).describe(ABOUT);
export const newEmail = accountEmail(emailRule).pipe(z.email(emailRule)).describe(ABOUT);

const lengthRule = { error: 'text of 8 to 128 characters' };
export const newPassword = z
  .string(lengthRule)
  .refine((text) => [...text].length >= 8 && [...text].length <= 128, lengthRule)
  .describe('8 to 128 characters; common passwords are rejected');

/** A login only compares it, so its form is not checked. */
export const password = z
  .string({ error: 'text' })
  .min(1, { error: 'text' })
  .max(1024, { error: 'text' })
  .describe('The current password');

/** Required for changes with which a stolen session could do lasting harm. */
export const currentPassword = password
  .optional()
  .describe('The current password; required if the last login is over 15 minutes old');
