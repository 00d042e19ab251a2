import { useState } from 'preact/hooks';
import type { Gap, Match } from '../answers.ts';
import { type Params, SLOW_MS, useApi } from '../api.ts';
import { Columns } from '../columns.tsx';
import { Panel, quoted, Waiting } from '../panel.tsx';
import { Num, PlatformName, Price, Time, Usd } from '../show.tsx';
import { marketAddress } from '../url.ts';
import { MatchedEvents } from './events.tsx';
import { SAYS, turned } from './says.ts';
import { VerdictBy, VerdictForm } from './verdict.tsx';

const SHOWN = 20;
const GAP_SIZE = 100;

/** A match seen from one of its markets. */
interface Seen {
  match: Match;
  isA: boolean;
  own: Match['a'];
  other: Match['a'];
  says: string;
  /** Quotes of this market's first outcome and of the outcome there that pays with it; null unless both questions are one. */
  prices: readonly [Quote, Quote] | null;
}
type Quote = Match['a']['current_prices'][string] | undefined;

/** The match from the side of the markets that `isOwn` chooses. */
function seenFrom(match: Match, isOwn: (market: Match['a']) => boolean): Seen {
  const isA = isOwn(match.a);
  const [own, other] = isA ? [match.a, match.b] : [match.b, match.a];
  const first = own.outcomes[0]?.id ?? '';
  const pair = match.mapping.find(({ a, b }) => (isA ? a : b) === first);
  const there = pair && (isA ? pair.b : pair.a);
  return {
    match,
    isA,
    own,
    other,
    says: SAYS[turned(match.relation, isA)],
    prices: there === undefined ? null : [own.current_prices[first], other.current_prices[there]],
  };
}

const sqlOf = (condition: string): string =>
  `SELECT m.relation, a.title AS a, b.title AS b, a.price AS a_price,
  multiIf(m.relation = 'identical', b.price, m.relation = 'complement', 1 - b.price, NULL) AS b_in_the_same_terms
FROM v_matches AS m
INNER JOIN v_markets AS a ON a.market_key = m.a_market_key
INNER JOIN v_markets AS b ON b.market_key = m.b_market_key
WHERE ${condition}`;

/** Markets of other platforms that ask what a market asks, or something near it. */
export function MarketMatches({ platform, id, unified }: { platform: string; id: string; unified: string }) {
  return (
    <Matches
      params={{ platform, market_id: id, limit: SHOWN }}
      sql={sqlOf(`a.id = ${quoted(unified)} OR b.id = ${quoted(unified)}`)}
      isOwn={(market) => market.id === unified}
      isOfEvent={false}
    />
  );
}

/** Markets of other platforms that ask what the markets of an event ask. */
export function EventMatches({ platform, eventId }: { platform: string; eventId: string }) {
  const of = (side: string): string =>
    `(${side}.platform = ${quoted(platform)} AND ${side}.event_id = ${quoted(eventId)})`;
  return (
    <Matches
      params={{ platform, event_id: eventId, limit: 5 * SHOWN }}
      sql={sqlOf(`${of('a')} OR ${of('b')}`)}
      isOwn={(market) => market.platform === platform && market.event_id === eventId}
      isOfEvent
    />
  );
}

interface Shown {
  params: Params;
  sql: string;
  isOwn: (market: { id?: string; platform: string; event_id: string }) => boolean;
  isOfEvent: boolean;
}

function Matches({ params, sql, isOwn, isOfEvent }: Shown) {
  const asked = useApi('/v1/api/matches', params, SLOW_MS);
  const { now, decide } = useDecided();
  const all = now(asked.data?.matches ?? []).map((match) => seenFrom(match, isOwn));
  // The same question first. The list of an event has nothing else, as it would be too long.
  const shown = [...all.filter(({ prices }) => prices), ...(isOfEvent ? [] : all.filter(({ prices }) => !prices))];
  const hasGaps = shown.some(({ prices, own, other }) => prices && own.status === 'open' && other.status === 'open');
  if (!asked.failure && shown.length === 0) return null;
  return (
    <Panel title="On other platforms" query={{ path: '/v1/api/matches', params, sql }} of={asked} class="matches">
      {isOfEvent && <MatchedEvents events={asked.data?.events ?? []} isOwn={isOwn} />}
      {shown.length === 0 ? (
        <Waiting of={asked} />
      ) : (
        <ul class="match-list">
          {shown.map((seen) => (
            <One key={seen.match.id} seen={seen} isOfEvent={isOfEvent} decide={decide} />
          ))}
        </ul>
      )}
      {hasGaps && <Gaps params={params} />}
    </Panel>
  );
}

type Decide = (id: string, match: Match | null) => void;

/** What the user decided on this page: lists show it at once, though their answers are kept for some seconds. */
function useDecided(): { now: (matches: readonly Match[]) => Match[]; decide: Decide } {
  const [decided, setDecided] = useState<Readonly<Record<string, Match | null>>>({});
  return {
    now: (matches) =>
      matches.flatMap((match) => {
        const own = decided[match.id];
        if (own === undefined) return [match];
        if (own === null) return [];
        const { relation, verdict, rules_relation, mapping, reasons } = own;
        return [{ ...match, relation, verdict, rules_relation, mapping, reasons }];
      }),
    decide: (id, match) => setDecided((before) => ({ ...before, [id]: match })),
  };
}

function One({ seen, isOfEvent, decide }: { seen: Seen; isOfEvent: boolean; decide: Decide }) {
  const { match, isA, own, other, says, prices } = seen;
  return (
    <li>
      <p class="sub">
        <PlatformName platform={other.platform} />
        <span>{says}</span>
      </p>
      <p>
        <a href={marketAddress(other.id)}>
          <bdi>{other.title}</bdi>
        </a>
        {isOfEvent && (
          <span class="muted">
            {' '}
            for <bdi>{own.title}</bdi>
          </span>
        )}
      </p>
      <VerdictBy match={match} isA={isA} />
      {prices && (
        <table class="match-prices">
          <Columns
            of={[
              `${own.outcomes[0]?.name ?? 'Yes'} in the same terms`,
              ['Price', 'number'],
              ['Bid', 'number'],
              ['Ask', 'number'],
            ]}
          />
          <tbody>
            {[own, other].map((market, n) => (
              <tr key={market.id}>
                <td>
                  <PlatformName platform={market.platform} />
                </td>
                <td class="number">
                  <Price value={prices[n]?.price} strong />
                </td>
                <td class="number">
                  <Price value={prices[n]?.bid} />
                </td>
                <td class="number">
                  <Price value={prices[n]?.ask} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <details>
        <summary>Why</summary>
        <dl class="match-reasons">
          {match.reasons.map(({ field, a, b, verdict }, n) => (
            <div key={n}>
              <dt>
                {field.replaceAll('_', ' ')} <span class="muted">{verdict.replaceAll('_', ' ')}</span>
              </dt>
              {(
                [
                  [match.a, a],
                  [match.b, b],
                ] as const
              ).map(([market, words]) => (
                <dd key={market.id}>
                  <PlatformName platform={market.platform} />
                  {words === '' ? (
                    <span class="muted">says nothing</span>
                  ) : (
                    <q>
                      <bdi>{words}</bdi>
                    </q>
                  )}
                </dd>
              ))}
            </div>
          ))}
        </dl>
        <VerdictForm match={match} isA={isA} onChange={(changed) => decide(match.id, changed)} />
      </details>
    </li>
  );
}

/** What both sides cost by their live books. Loaded only on request, because each load reads books from the platforms. */
function Gaps({ params }: { params: Params }) {
  const [isAsked, setAsked] = useState(false);
  const { limit: _, ...of } = params;
  const asked = useApi('/v1/api/matches/gaps', isAsked ? { ...of, size: GAP_SIZE } : null, SLOW_MS);
  if (!isAsked)
    return (
      <p class="foot">
        <button type="button" onClick={() => setAsked(true)}>
          What both sides cost
        </button>
      </p>
    );
  const gaps = asked.data?.matches ?? [];
  if (gaps.length === 0) return <Waiting of={asked} empty="No open pair has books." />;
  return (
    <table>
      <Columns
        of={[`${GAP_SIZE} contracts of both sides`, ['Cost', 'number'], ['Fees', 'number'], ['Edge', 'number']]}
      />
      <tbody>
        {gaps.map((gap) => (
          <GapRow key={gap.match_id} gap={gap} />
        ))}
      </tbody>
    </table>
  );
}

function GapRow({ gap }: { gap: Gap }) {
  if (gap.unknown_because !== null)
    return (
      <tr>
        <td colSpan={4} class="muted">
          {gap.unknown_because}
        </td>
      </tr>
    );
  return (
    <tr>
      <td>
        {[gap.a, gap.b].map(({ id, platform, outcome }) => (
          <div key={id}>
            <PlatformName platform={platform} /> <bdi>{outcome}</bdi>
          </div>
        ))}
        {!gap.is_whole && (
          <div class="muted">
            a book ends after <Num value={gap.size} />
          </div>
        )}
        {gap.locked_until && (
          <div class="muted">
            locked until <Time at={gap.locked_until} />
          </div>
        )}
      </td>
      <td class="number">
        <Usd value={gap.locked_usd} />
      </td>
      <td class="number">
        <Usd value={gap.fees_usd} />
      </td>
      <td class="number">
        <Usd value={gap.edge_usd} />
      </td>
    </tr>
  );
}
