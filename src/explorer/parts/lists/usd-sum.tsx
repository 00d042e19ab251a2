import type { Event } from '../answers.ts';
import { Usd } from '../show.tsx';

interface UsdSumProps {
  value: number | null;
  /** The number of markets of which the amount is known, and of all. */
  known: number;
  markets: number;
  /** What it is the sum of, behind it. */
  of?: string;
}

/** A sum in USD over markets; with the number of markets in the sum if the amount is not known for all. */
export function UsdSum({ value, known, markets, of = '' }: UsdSumProps) {
  return (
    <>
      <Usd value={value} why="Not known of any market" />
      {of}
      {known > 0 && known < markets && <span class="muted"> (of {known === 1 ? '1 market' : `${known} markets`})</span>}
    </>
  );
}

interface EventSumProps {
  event: Event;
  figure: keyof Event['usd_markets'];
  of?: string;
}

/** A sum in USD over the markets of an event. */
export const EventSum = ({ event, figure, of = '' }: EventSumProps) => (
  <UsdSum value={event[`${figure}_usd`]} known={event.usd_markets[figure]} markets={event.markets_count} of={of} />
);
