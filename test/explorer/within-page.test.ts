import { expect, test } from 'vitest';
import { isWithinPage } from '../../src/explorer/parts/within-page.ts';

const addressOf = (text: string): URL => new URL(text, 'http://localhost');

test('a link to an element of the current page is left to the browser; one to another page or query is not', () => {
  const at = addressOf('/status?job=markets');
  expect(isWithinPage(addressOf('/status?job=markets#main'), at)).toBe(true);
  for (const other of ['/status?job=markets', '/status#main', '/sql?job=markets#main']) {
    expect(isWithinPage(addressOf(other), at)).toBe(false);
  }
});
