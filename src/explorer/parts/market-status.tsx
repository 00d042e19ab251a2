import type { Market } from './answers.ts';
import { payoutsOf } from './prices.ts';
import { Status } from './show.tsx';

/** The state of a market; one that is settled says for what. */
export function MarketStatus({ market }: { market: Pick<Market, 'status' | 'outcomes' | 'metadata'> }) {
  const { status, outcomes } = market;
  if (status !== 'settled') return <Status status={status} />;
  const payouts = payoutsOf(market);
  const winner = outcomes.find(({ id }) => payouts[id] === 1);
  return (
    <span class="status settled">
      Resolved
      {winner && (
        <>
          : <bdi>{winner.name}</bdi>
        </>
      )}
    </span>
  );
}
