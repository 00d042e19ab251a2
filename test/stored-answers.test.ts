import { expect, test } from 'vitest';
import { wantedFormat } from '../src/stored-answers.ts';

test.each([
  [undefined, 'json'],
  ['*/*', 'json'],
  ['text/html', 'json'],
  ['text/csv', 'csv'],
  ['TEXT/CSV; header=present', 'csv'],
  ['application/x-ndjson, */*;q=0.1', 'ndjson'],
  ['*/*, text/csv', 'csv'],
  ['application/json, text/csv;q=0.1', 'json'],
  ['application/json;q=0.5, text/csv ; q=0.9', 'csv'],
  ['application/x-ndjson, text/csv', 'ndjson'],
  ['text/csv;q=0, application/json;q=0.1', 'json'],
  ['text/csv;q=lots', 'json'],
])('Accept: %s is answered as %s', (accept, format) => {
  expect(wantedFormat(accept)).toBe(format);
});
