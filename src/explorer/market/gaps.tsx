import { Time } from '../parts/show.tsx';
import type { Gap } from './live-market.ts';

/** Gaps in streamed or recorded data, one sentence each. */
export function GapsOf({ gaps, what }: { gaps: readonly Pick<Gap, 'from' | 'to' | 'reason'>[]; what: string }) {
  return (
    <>
      {gaps.map(({ from, to, reason }) => (
        <span key={from} class="warn">
          {what} data missing from <Time at={from} /> to <Time at={to} /> ({reason}).{' '}
        </span>
      ))}
    </>
  );
}
