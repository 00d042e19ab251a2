import { Time } from '../parts/show.tsx';
import type { Gap } from './live-market.ts';

/** Gaps reported by the stream, one sentence each. */
export function GapsOf({ gaps, what }: { gaps: readonly Gap[]; what: string }) {
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
