import { afterEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import type { Placement } from '../../src/platforms/order-contract.ts';
import { placeInParts } from '../../src/platforms/place-in-parts.ts';

afterEach(() => vi.restoreAllMocks());

const refuse = async (): Promise<Placement> => expect.fail('nothing is sent alone');

test('parts of a batch that come more than ten seconds after the first are not sent', async () => {
  let nowMs = 1000;
  vi.spyOn(systemClock, 'elapsed').mockImplementation(() => nowMs);
  const sent: number[][] = [];
  const batch = async (part: readonly number[]): Promise<Placement[]> => {
    sent.push([...part]);
    nowMs += 10_001;
    return part.map(() => ({ result: 'unknown', httpStatus: 0, detail: '' }));
  };
  const placements = await placeInParts('kalshi', [1, 2, 3, 4, 5], { size: 2, single: refuse, batch });
  expect(sent).toEqual([[1, 2]]);
  expect(placements.map(({ result }) => result)).toEqual(['unknown', 'unknown', 'not_sent', 'not_sent', 'not_sent']);
  expect(placements[4]).toMatchObject({ refusal: { status: 503, retryAfter: 1 } });
});
