import { Columns } from '../parts/columns.tsx';
import type { Category } from '../parts/answers.ts';
import { get, useApi, useRepeated, type Loaded } from '../parts/api.ts';
import { Choice, Panel, quoted, Waiting } from '../parts/panel.tsx';
import { Num, PlatformName, Price, Time, Usd } from '../parts/show.tsx';
import { sum } from '../parts/exact.ts';
import { LISTED } from '../parts/statements.ts';
import { setQuery, usePlace } from '../parts/url.ts';

const SLOW_MS = 30_000;
const CATEGORIES = '/v1/api/analytics/categories';

/** The time of a panel's figures, and up to when their trades are complete. */
function AsOf({ at, complete }: { at: string | null | undefined; complete: string | null | undefined }) {
  if (!at) return null;
  return (
    <>
      As of <Time at={at} />
      {complete ? (
        <>
          ; trades complete to <Time at={complete} />.
        </>
      ) : (
        '.'
      )}
    </>
  );
}

const PLATFORMS_SQL = `SELECT platform, countIf(status = 'open') AS open_markets, sum(volume_24h) AS volume_24h, sum(volume_7d) AS volume_7d
FROM v_markets
WHERE ${LISTED}
GROUP BY platform
ORDER BY volume_24h DESC NULLS LAST`;

/** null if no category reports it. */
const total = (rows: readonly Category[], of: (row: Category) => number | null): number | null => {
  const values = rows.flatMap((row) => of(row) ?? []);
  return values.length === 0 ? null : sum(values);
};

/** The volume of each platform, as bars on one scale. */
export function PlatformVolumes({ listed }: { listed: Loaded<readonly string[]> }) {
  const platforms = listed.data ?? [];
  const asked = useRepeated(
    platforms.length === 0 ? null : platforms.join(','),
    (signal) =>
      Promise.all(
        platforms.map(async (platform) => {
          const { categories, meta } = await get(CATEGORIES, { platform }, signal);
          const volume7d = total(categories, (row) => row.volume_7d);
          return { platform, open: meta.total_active_markets, volume: meta.total_volume_24h, volume7d, meta };
        }),
      ),
    SLOW_MS,
  );
  const rows = (asked.data ?? []).toSorted((a, b) => (b.volume ?? -1) - (a.volume ?? -1));
  const most = Math.max(1, ...rows.map(({ volume }) => volume ?? 0));
  return (
    <Panel
      title="Volume by platform"
      query={{ path: CATEGORIES, params: platforms.map((platform) => ({ platform })), sql: PLATFORMS_SQL }}
      of={asked}
    >
      {rows.length === 0 ? (
        <Waiting of={platforms.length === 0 ? listed : asked} empty="No market is stored yet." />
      ) : (
        <table>
          <Columns of={['Platform', ['Open markets', 'number'], ['7 days', 'number wide'], ['24 hours', 'number']]} />
          <tbody>
            {rows.map(({ platform, open, volume, volume7d }) => (
              <tr key={platform}>
                <td class="rung full">
                  <span class="depth" style={{ width: `${((volume ?? 0) / most) * 100}%` }} aria-hidden="true" />
                  <a href={`/?platform=${platform}`}>
                    <PlatformName platform={platform} />
                  </a>
                </td>
                <td class="number">
                  <Num value={open} />
                </td>
                <td class="number wide">
                  <Usd value={volume7d} />
                </td>
                <td class="number">
                  <Usd value={volume} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p class="foot muted">
        USD; contracts count as $1 each. <AsOf at={rows[0]?.meta.as_of} complete={undefined} />
      </p>
    </Panel>
  );
}

const categoriesSql = (platform: string): string =>
  `SELECT category, countIf(status = 'open') AS open_markets, sum(volume_24h) AS volume_24h
FROM v_markets
WHERE ${LISTED}${platform === '' ? '' : ` AND platform = ${quoted(platform)}`}
GROUP BY category
ORDER BY volume_24h DESC NULLS LAST`;

/** Volume by category, as bars on one scale. */
export function Categories({ platforms }: { platforms: readonly string[] }) {
  const { query } = usePlace();
  const wanted = query.get('volume') ?? '';
  const platform = platforms.includes(wanted) ? wanted : '';
  const params = { platform };
  const asked = useApi('/v1/api/analytics/categories', params, SLOW_MS);
  const rows = asked.data?.categories ?? [];
  const most = Math.max(1, ...rows.map(({ volume_24h: volume }) => volume ?? 0));
  return (
    <Panel
      title="Volume by category, 24 hours"
      query={{ path: '/v1/api/analytics/categories', params, sql: categoriesSql(platform) }}
      of={asked}
      aside={
        <Choice
          label="Platform"
          value={platform}
          options={[
            ['', 'All'],
            ...platforms.map((name) => [name, name.charAt(0).toUpperCase() + name.slice(1)] as const),
          ]}
          onChange={(value) => setQuery({ volume: value })}
        />
      }
    >
      {rows.length === 0 ? (
        <Waiting of={asked} empty="No market is stored yet." />
      ) : (
        <Bars rows={rows} most={most} platform={platform} />
      )}
      <p class="foot muted">
        Total <Usd value={asked.data?.meta.total_volume_24h} />; contracts count as $1 each.{' '}
        <AsOf at={asked.data?.meta.as_of} complete={asked.data?.meta.data_freshness} />
      </p>
    </Panel>
  );
}

function Bars({ rows, most, platform }: { rows: readonly Category[]; most: number; platform: string }) {
  return (
    <table>
      <Columns of={['Category', ['Open markets', 'number'], ['Spread', 'number wide'], ['Volume', 'number']]} />
      <tbody>
        {rows.map((row) => (
          <tr key={row.slug}>
            <td class="rung full">
              <span class="depth" style={{ width: `${((row.volume_24h ?? 0) / most) * 100}%` }} aria-hidden="true" />
              <a href={`/?category=${encodeURIComponent(row.slug)}${platform === '' ? '' : `&platform=${platform}`}`}>
                {row.name}
              </a>
            </td>
            <td class="number">
              <Num value={row.active_markets} />
            </td>
            <td class="number wide">
              <Price value={row.avg_spread} digits={4} />
            </td>
            <td class="number">
              <Usd value={row.volume_24h} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
