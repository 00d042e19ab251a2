import { expect, test } from 'vitest';
import { failureText } from '../../src/explorer/parts/forms/failure-text.ts';

test('failing fields are sentences for people, without the words of the API', () => {
  const text = failureText({
    message: 'Invalid request: email, new_password',
    resolution: 'Correct the fields named in error_text.',
    error_text: 'email: an e-mail address, received "x"; new_password: text of 8 to 128 characters, received nothing',
  });
  expect(text).toEqual({
    message: 'E-mail must be an e-mail address. New password is missing: text of 8 to 128 characters.',
    advice: '',
  });
});

test('advice keeps what a person can do, and leaves out calls of the API', () => {
  const both = { message: 'Too many', error_text: '', resolution: 'Wait a minute. See GET /v1/api/health for more.' };
  expect(failureText(both)).toEqual({ message: 'Too many', advice: 'Wait a minute.' });
});

test('an error that names no fields keeps its text', () => {
  const failed = { message: 'The statement fails', resolution: 'Correct it.', error_text: 'Unknown column x; y: z' };
  expect(failureText(failed)).toEqual({
    message: 'The statement fails: Unknown column x; y: z',
    advice: 'Correct it.',
  });
});
