import { Columns } from '../parts/columns.tsx';
import { useApi, useRepeated } from '../parts/api.ts';
import { Panel, Waiting } from '../parts/panel.tsx';
import { Num, PlatformName, spanText, Status, Time } from '../parts/show.tsx';
import { runSql } from '../sql/run.ts';
import { readBudgets } from './prometheus.ts';

const EVERY_MS = 5000;
const RUNS = `SELECT platform, job, if(argMax(ok, finished_at), 'ok', 'failed') AS state, max(finished_at) AS finished, argMax(note, finished_at) AS detail
FROM v_ingestion
WHERE finished_at >= now() - 86400
GROUP BY platform, job
ORDER BY platform, job`;

/** What the service knows of itself: stores, feeds, jobs and request budgets. */
export function StatusPage() {
  return (
    <div class="overview">
      <h1 class="hidden">Status</h1>
      <div class="column">
        <Health />
        <Budgets />
      </div>
      <Jobs />
    </div>
  );
}

function Health() {
  const asked = useApi('/v1/api/health', {}, EVERY_MS);
  const health = asked.data;
  return (
    <Panel
      title="Service"
      query={{ path: '/v1/api/health', params: {} }}
      aside={health && <Status status={health.status} />}
    >
      {!health ? (
        <Waiting of={asked} />
      ) : (
        <>
          <table>
            <Columns of={['Part', 'State', 'Feed', ['Behind', 'number'], 'Detail']} />
            <tbody>
              {health.checks.map((check) => (
                <tr key={check.name}>
                  <td>{check.name}</td>
                  <td>
                    <Status status={check.status} />
                  </td>
                  <td>{check.feed ?? <span class="muted">{check.platform ? 'polling' : '–'}</span>}</td>
                  <td class="number">
                    {typeof check.lag_seconds === 'number' ? spanText(check.lag_seconds) : <span class="muted">–</span>}
                  </td>
                  <td class="muted">{check.detail ?? ''}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <p class="foot muted">
            Version {health.version}, up {spanText(health.uptime_seconds)}. Asked every 5 s.
          </p>
        </>
      )}
    </Panel>
  );
}

/** The last run of each ingestion job. */
function Jobs() {
  const asked = useRepeated('jobs', () => runSql(RUNS), EVERY_MS * 2);
  const rows = asked.data?.rows ?? [];
  return (
    <Panel title="Jobs, last run" query={{ path: '/v1/api/health', params: {}, sql: RUNS }}>
      {rows.length === 0 ? (
        <Waiting of={asked} empty="No job ran in the last day." />
      ) : (
        <table>
          <Columns of={['Platform', 'Job', 'State', ['Ended', 'number']]} />
          <tbody>
            {rows.map(([platform, job, status, finished, detail]) => (
              <tr key={`${String(platform)} ${String(job)}`}>
                <td>
                  <PlatformName platform={String(platform)} />
                </td>
                <td>{String(job)}</td>
                <td title={String(detail ?? '')}>
                  <Status status={String(status)} />
                </td>
                <td class="number">
                  <Time at={`${String(finished).replace(' ', 'T')}Z`} relative />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

/** What /metrics says of requests to the platforms; it answers this machine alone, unless a token is set. */
function Budgets() {
  const asked = useRepeated('metrics', readBudgets, EVERY_MS * 2);
  const rows = asked.data ?? [];
  return (
    <Panel title="Request budgets" query={{ path: '/metrics', params: {} }}>
      {rows.length === 0 ? (
        asked.failure ? (
          <p class="notice muted">
            /metrics does not answer this address: the operator reads it on the machine itself.
          </p>
        ) : (
          <Waiting of={asked} empty="No request was sent yet." />
        )
      ) : (
        <table>
          <Columns
            of={['Budget', ['A second', 'number'], ['Sent', 'number'], ['Refused', 'number'], ['Waiting', 'number']]}
          />
          <tbody>
            {rows.map(({ name, perSecond, taken, refused, waiting }) => (
              <tr key={name}>
                <td class="cut" title={name}>
                  {name}
                </td>
                <td class="number">
                  <Num value={perSecond} compact />
                </td>
                <td class="number">
                  <Num value={taken} compact />
                </td>
                <td class="number">
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
