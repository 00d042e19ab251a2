import type { Event } from '../answers.ts';
import { Usd } from '../show.tsx';

interface UsdSumProps {
  event: Event;
  figure: keyof Event['usd_markets'];
  /** What it is the sum of, behind it. */
  of?: string;
}

/** A sum in USD over the markets of an event, and of how many of them where it is not known of all. */
export function UsdSum({ event, figure, of = '' }: UsdSumProps) {
  const known = event.usd_markets[figure];
  return (
    <>
      <Usd value={event[`${figure}_usd`]} why="Not known of any market" />
      {of}
      {known > 0 && known < event.markets_count && (
        <span class="muted"> (of {known === 1 ? '1 market' : `${known} markets`})</span>
      )}
    </>
  );
}
