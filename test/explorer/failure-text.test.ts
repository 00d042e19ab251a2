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

test('a list that is too old to be continued is said so without its cursor', () => {
  const text = failureText({
    message: 'Invalid request: cursor',
    resolution: 'Start again without a cursor.',
    error_text: 'cursor: a cursor of a list that began in the last 10 minutes, received an older one',
  });
  expect(text).toEqual({ message: 'This list was opened too long ago to be continued.', advice: '' });
});

test('an error that names no fields keeps its text', () => {
  const failed = { message: 'The statement fails', resolution: 'Correct it.', error_text: 'Unknown column x; y: z' };
  expect(failureText(failed)).toEqual({
    message: 'The statement fails: Unknown column x; y: z',
    advice: 'Correct it.',
  });
});

test('an error whose text is about a field of the API is its message alone', () => {
  const text = failureText({
    message: 'No credential for Kalshi',
    resolution: 'Store one at POST /v1/api/auth/credentials',
    error_text: 'credential_id: the request names none, and the account has none for kalshi',
  });
  expect(text).toEqual({ message: 'No credential for Kalshi', advice: '' });
});
