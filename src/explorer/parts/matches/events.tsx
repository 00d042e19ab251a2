import type { Answers } from '../answers.ts';
import { PlatformName } from '../show.tsx';
import { eventAddress, marketAddress } from '../url.ts';

type EventMatch = Answers['/v1/api/matches']['events'][number];
type Side = EventMatch['a'];

/** Events of other platforms that ask what this one asks, market by market, and what only one of both asks. */
export function MatchedEvents({ events, isOwn }: { events: readonly EventMatch[]; isOwn: (side: Side) => boolean }) {
  return (
    <ul class="match-list matched-events">
      {events.map((event) => {
        const [own, other] = isOwn(event.a) ? [event.a, event.b] : [event.b, event.a];
        return (
          <li key={`${other.platform}:${other.event_id}`}>
            <p class="sub">
              <PlatformName platform={other.platform} />
              <span>
                {event.is_whole
                  ? 'The same event, market by market'
                  : `${event.pairs.length} markets are the same questions`}
              </span>
            </p>
            <p>
              <a href={eventAddress(other.platform, other.event_id)}>
                <bdi>{other.event_name || other.event_id}</bdi>
              </a>
            </p>
            <Unpaired of={own} says="Only here" />
            <Unpaired of={other} says="Only there" />
          </li>
        );
      })}
    </ul>
  );
}

function Unpaired({
  of: { without_partner: markets, without_partner_total: total },
  says,
}: {
  of: Side;
  says: string;
}) {
  if (total === 0) return null;
  return (
    <details>
      <summary>
        {says}: {total}
      </summary>
      <ul>
        {markets.map(({ id, title, outcome_name: name }) => (
          <li key={id}>
            <a href={marketAddress(id)}>
              <bdi>{name ?? title}</bdi>
            </a>
          </li>
        ))}
      </ul>
      {total > markets.length && <p class="muted">and {total - markets.length} more</p>}
    </details>
  );
}
