import { Fragment } from 'preact';
import { Columns } from '../parts/columns.tsx';
import type { Answers } from '../parts/answers.ts';
import { type Loaded, useRepeated } from '../parts/api.ts';
import { zoneName } from '../parts/prefs/prefs.ts';
import { Panel, Waiting } from '../parts/panel.tsx';
import { readHealth } from '../parts/platforms.ts';
import { Num, PlatformName, spanText, Status, Time } from '../parts/show.tsx';
import { readBudgets } from './prometheus.ts';

const EVERY_MS = 5000;
const RUNS = `SELECT platform, job, if(argMax(ok, finished_at), 'ok', 'failed') AS state, max(finished_at) AS finished, argMax(note, finished_at) AS detail
FROM v_ingestion
WHERE finished_at >= now() - 86400
GROUP BY platform, job
ORDER BY platform, job`;
const STORED = `SELECT platform, count() AS markets, countIf(status = 'open') AS open_markets, sum(trades) AS stored_trades,
  minIf(first_trade_at, trades > 0) AS first_trade, max(last_trade_at) AS last_trade
FROM v_markets
LEFT JOIN v_market_stats USING (platform, market_key)
GROUP BY platform
ORDER BY platform`;

/** State of the service: stores, feeds, sockets, jobs and request budgets. */
export function StatusPage() {
  const asked = useRepeated('health', readHealth, EVERY_MS);
  return (
    <div class="overview">
      <h1 class="hidden">Status</h1>
      <div class="column">
        <Health asked={asked} />
        <Stored asked={asked} />
        <Budgets />
      </div>
      <Jobs asked={asked} />
    </div>
  );
}

type Health = Answers['/v1/api/health'];
type Check = Health['checks'][number];
interface Props {
  asked: Loaded<Health>;
}

function Health({ asked }: Props) {
  const health = asked.data;
  return (
    <Panel
      title="Service"
      query={{ path: '/v1/api/health', params: {} }}
      of={asked}
      aside={health && <Status status={health.status} />}
    >
      {!health ? (
        <Waiting of={asked} />
      ) : (
        <>
          <table>
            <Columns of={['Component', 'State', 'Feed', ['Lag', 'number']]} />
            <tbody>
              {health.checks.map((check) => (
                <Part key={check.name} check={check} />
              ))}
            </tbody>
          </table>
          <p class="foot muted">
            Version {health.version}, up {spanText(health.uptime_seconds)}. Checked <Time at={(asked.at ?? 0) / 1000} />
            , every 5 s.
          </p>
        </>
      )}
    </Panel>
  );
}

/** A store, or a platform with its sockets; problems are shown below. */
function Part({ check }: { check: Check }) {
  const { name, status, platform, feed, lag_seconds: lag, detail, left_out: leftOut, socket } = check;
  return (
    <>
      <tr>
        <td>{name}</td>
        <td>
          <Status status={status} />
        </td>
        <td>{feed ?? <span class="muted">{platform ? 'polling' : '–'}</span>}</td>
        <td class="number">{typeof lag === 'number' ? spanText(lag) : <span class="muted">–</span>}</td>
      </tr>
      {(detail || leftOut || socket) && (
        <tr class="more">
          <td colSpan={4} class="muted">
            {detail && <p class="failed">{detail}</p>}
            {leftOut?.map((text) => (
              <p key={text}>Left out by {text}</p>
            ))}
            {socket && <Socket socket={socket} />}
          </td>
        </tr>
      )}
    </>
  );
}

function Socket({ socket }: { socket: NonNullable<Check['socket']> }) {
  const { connected, reason, subscriptions, reconnects, last_message_at: heard } = socket;
  const isFollowed = connected || heard !== null || subscriptions > 0 || reconnects > 0;
  return (
    <>
      Socket {connected ? 'open' : `not open${reason === null ? '' : `: ${reason}`}`}
      {isFollowed && (
        <>
          , <Num value={subscriptions} /> subscriptions,{' '}
          {reconnects === 0 ? 'never lost' : reconnects === 1 ? 'lost once' : `lost ${reconnects} times`}
        </>
      )}
      {heard !== null && (
        <>
          , last message <Time at={heard} relative />
        </>
      )}
    </>
  );
}

/** How much data of each platform is stored. */
function Stored({ asked }: Props) {
  const rows = (asked.data?.checks ?? []).filter(({ stored }) => stored !== undefined);
  return (
    <Panel title="Stored data" query={{ path: '/v1/api/health', params: {}, sql: STORED }} of={asked}>
      {rows.length === 0 ? (
        <Waiting of={asked} empty="Not counted yet." />
      ) : (
        <table>
          <Columns
            of={[
              'Platform',
              ['Markets', 'number'],
              ['Open', 'number wide'],
              ['Trades', 'number'],
              [`Oldest trade, ${zoneName()}`, 'number wide'],
              ['Newest trade', 'number'],
            ]}
          />
          <tbody>
            {rows.map(({ platform = '', stored }) => (
              <tr key={platform}>
                <td>
                  <PlatformName platform={platform} />
                </td>
                <td class="number">
                  <Num value={stored?.markets} />
                </td>
                <td class="number wide">
                  <Num value={stored?.open_markets} />
                </td>
                <td class="number">
                  <Num value={stored?.trades} />
                </td>
                <td class="number wide">
                  <Time at={stored?.first_trade_at} />
                </td>
                <td class="number">
                  <Time at={stored?.last_trade_at} relative />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

/** The last run of each ingestion job, with its note below, such as why it failed. */
function Jobs({ asked }: Props) {
  const rows = (asked.data?.checks ?? []).flatMap(({ platform = '', jobs = [] }) =>
    jobs.map((job) => ({ platform, ...job })),
  );
  return (
    <Panel title="Jobs, last run" query={{ path: '/v1/api/health', params: {}, sql: RUNS }} of={asked}>
      {rows.length === 0 ? (
        <Waiting of={asked} empty="No job ran in the last day." />
      ) : (
        <table class="jobs">
          <Columns of={['Platform', 'Job', 'State', ['Ended', 'number']]} />
          <tbody>
            {rows.map(({ platform, name, status, finished_at: finished, note }) => (
              <Fragment key={`${platform} ${name}`}>
                <tr>
                  <td>
                    <PlatformName platform={platform} />
                  </td>
                  <td class="name">{broken(name)}</td>
                  <td>
                    <Status status={status} />
                  </td>
                  <td class="number">
                    <Time at={finished} relative />
                  </td>
                </tr>
                {note !== '' && (
                  <tr class="more">
                    <td colSpan={4} class={status === 'failed' ? 'failed' : 'muted'}>
                      <bdi>{note}</bdi>
                    </td>
                  </tr>
                )}
              </Fragment>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

/** A name that may wrap after `/`, `:` and `_`. */
const broken = (name: string) =>
  name.split(/(?<=[/:_])/).map((part, n) => (
    <Fragment key={n}>
      {n > 0 && <wbr />}
      {part}
    </Fragment>
  ));

/** Request budgets of the platforms from /metrics, which without METRICS_TOKEN answers only the service's own machine. */
function Budgets() {
  const asked = useRepeated('metrics', readBudgets, EVERY_MS * 2);
  const rows = asked.data ?? [];
  return (
    <Panel title="Request budgets" query={{ path: '/metrics', params: {} }} of={asked}>
      {rows.length === 0 ? (
        asked.failure ? (
          <p class="notice muted">/metrics is not available from this address.</p>
        ) : (
          <Waiting of={asked} empty="No request was sent yet." />
        )
      ) : (
        <table>
          <Columns
            of={[
              'Budget',
              ['Allowed/s', 'number'],
              ['Sent', 'number'],
              ['Refused', 'number wide'],
              ['Waiting', 'number'],
            ]}
          />
          <tbody>
            {rows.map(({ name, perSecond, taken, refused, waiting }) => (
              <tr key={name}>
                <td class="name">{broken(name)}</td>
                <td class="number">
                  <Num value={perSecond} digits={Number.isInteger(perSecond) ? 0 : 2} />
                </td>
                <td class="number">
                  <Num value={taken} />
                </td>
                <td class="number wide">
                  <Num value={refused} />
                </td>
                <td class="number">
                  <Num value={waiting} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}
