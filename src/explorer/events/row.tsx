import type { Event } from '../parts/answers.ts';
import { firstPrice, priceDigits } from '../parts/prices.ts';
import { Picture } from '../parts/lists/picture.tsx';
import { MarketStatus } from '../parts/market-status.tsx';
import { Ends, Num, PlatformName, Price, Status } from '../parts/show.tsx';
import { EventSum } from '../parts/lists/usd-sum.tsx';
import { eventAddress, marketAddress } from '../parts/url.ts';
import { type Leaders, listedName } from './leaders.ts';

/** An event and its leading markets, with their prices as bars. */
export function EventRow({ event, leaders }: { event: Event; leaders: Leaders | undefined }) {
  return (
    <li>
      <div class="event-name">
        <Picture address={event.image_url} size={36} />
        <a class="row-link" href={eventAddress(event.platform, event.event_id)}>
          <bdi>{listedName(event)}</bdi>
        </a>
        <span class="sub">
          <PlatformName platform={event.platform} />
          {event.status !== 'open' && <Status status={event.status} />}
          <span>{event.category}</span>
          <span>
            <Num value={event.markets_count} /> {event.markets_count === 1 ? 'market' : 'markets'}
          </span>
          <span>
            <EventSum event={event} figure="volume_24h" of=" in 24 h" />
          </span>
          <span>
            <Ends at={event.trading_end_at} />
          </span>
        </span>
      </div>
      <ul class="leaders" aria-label="Leading markets">
        {(leaders?.markets ?? []).map((one) => (
          <li key={one.id}>
            <a href={marketAddress(one.id)} title={one.title}>
              <bdi>{leaders?.markets.length === 1 ? (one.outcomes[0]?.name ?? '') : leaders?.names.get(one.id)}</bdi>
            </a>
            {one.status === 'settled' ? <MarketStatus market={one} /> : <Bar price={firstPrice(one)} />}
            <Price value={firstPrice(one)} digits={priceDigits(one)} />
          </li>
        ))}
      </ul>
    </li>
  );
}

const Bar = ({ price }: { price: number | null }) => (
  <span class="bar" aria-hidden="true">
    <span style={{ width: `${(price ?? 0) * 100}%` }} />
  </span>
);
