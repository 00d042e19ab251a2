import { expect, test } from 'vitest';
import { TradeProof } from '../../ingest/live/trade-proof.ts';

/** Whether the socket is found silent after each reading: [when it began, its new rows, when the socket spoke before it]. */
const found = (readings: readonly [number, number, number?][]): boolean[] => {
  const proof = new TradeProof();
  proof.reported(1);
  return readings.map(([beganAt, rows, reportedAt]) => {
    if (reportedAt !== undefined) proof.reported(reportedAt);
    return proof.isSilent(beganAt, rows);
  });
};

test('a socket is silent when two whole readings in a row find trades of which it said nothing', () => {
  expect(
    found([
      [10, 0],
      [70, 3],
      [130, 2],
      [190, 2],
      [250, 1],
    ]),
  ).toEqual([false, false, true, false, true]);
});

test('a socket that spoke, or missed nothing, is not silent', () => {
  expect(
    found([
      [10, 5],
      [70, 3, 60],
      [130, 3],
      [190, 3, 140],
      [250, 3],
    ]),
  ).toEqual([false, false, false, false, false]);
  expect(
    found([
      [10, 5],
      [70, 0],
      [130, 4],
      [190, 0],
      [250, 4],
    ]),
  ).toEqual([false, false, false, false, false]);
});
