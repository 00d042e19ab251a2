import { Columns } from '../parts/columns.tsx';
import type { Category } from '../parts/answers.ts';
import { get, SLOW_MS, useApi, useRepeated, type Loaded } from '../parts/api.ts';
import { Panel, PlatformChoice, quoted, Waiting } from '../parts/panel.tsx';
import { UsdSum } from '../parts/lists/usd-sum.tsx';
import { Num, PlatformName, Price, Time } from '../parts/show.tsx';
import { sum } from '../parts/exact.ts';
import { setQuery, usePlace } from '../parts/url.ts';

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

const PLATFORMS_SQL = `SELECT platform, sum(open_markets) AS open, sum(volume_24h_usd) AS day, sum(volume_7d_usd) AS week
FROM v_categories
GROUP BY platform
ORDER BY day DESC NULLS LAST`;

type Figure = 'volume_24h' | 'volume_7d';
/** What UsdSum shows. */
interface Sum {
  value: number | null;
  known: number;
  markets: number;
}

const ofCategory = (row: Category, figure: Figure): Sum => ({
  value: row[`${figure}_usd`],
  known: row.usd_markets[figure],
  markets: row.total_markets,
});

/** The sum over categories; null if it is known of no market. */
function ofAll(rows: readonly Category[], figure: Figure): Sum {
  const sums = rows.map((row) => ofCategory(row, figure));
  const values = sums.flatMap(({ value }) => value ?? []);
  return {
    value: values.length === 0 ? null : sum(values),
    known: sum(sums.map(({ known }) => known)),
    markets: sum(sums.map(({ markets }) => markets)),
  };
}

/** The largest first, the unknown last. */
const bySum = (a: Sum, b: Sum): number => (b.value ?? -1) - (a.value ?? -1);

/** The volume of each platform, as bars on one scale. */
export function PlatformVolumes({ listed }: { listed: Loaded<readonly string[]> }) {
  const platforms = listed.data ?? [];
  const asked = useRepeated(
    platforms.length === 0 ? null : platforms.join(','),
    (signal) =>
      Promise.all(
        platforms.map(async (platform) => {
          const { categories, meta } = await get(CATEGORIES, { platform }, signal);
          const [day, week] = [ofAll(categories, 'volume_24h'), ofAll(categories, 'volume_7d')];
          return { platform, open: meta.total_active_markets, day, week, meta };
        }),
      ),
    SLOW_MS,
  );
  const rows = (asked.data ?? []).toSorted((a, b) => bySum(a.day, b.day));
  const most = Math.max(1, ...rows.map(({ day }) => day.value ?? 0));
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
            {rows.map(({ platform, open, day, week }) => (
              <tr key={platform}>
                <td class="rung full">
                  <span class="depth" style={{ width: `${((day.value ?? 0) / most) * 100}%` }} aria-hidden="true" />
                  <a href={`/?platform=${platform}`}>
                    <PlatformName platform={platform} />
                  </a>
                </td>
                <td class="number">
                  <Num value={open} />
                </td>
                <td class="number wide">
                  <UsdSum {...week} />
                </td>
                <td class="number">
                  <UsdSum {...day} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p class="foot muted">
        Price × size, USD. <AsOf at={rows[0]?.meta.as_of} complete={undefined} />
      </p>
    </Panel>
  );
}

const categoriesSql = (platform: string): string =>
  `SELECT category, sum(open_markets) AS open, sum(volume_24h_usd) AS day
FROM v_categories${platform === '' ? '' : `\nWHERE platform = ${quoted(platform)}`}
GROUP BY category
ORDER BY day DESC NULLS LAST`;

/** Volume by category, as bars on one scale. */
export function Categories({ platforms }: { platforms: readonly string[] }) {
  const { query } = usePlace();
  const wanted = query.get('volume') ?? '';
  const platform = platforms.includes(wanted) ? wanted : '';
  const params = { platform };
  const asked = useApi('/v1/api/analytics/categories', params, SLOW_MS);
  const rows = (asked.data?.categories ?? []).map((row) => ({ row, day: ofCategory(row, 'volume_24h') }));
  return (
    <Panel
      title="Volume by category, 24 hours"
      query={{ path: '/v1/api/analytics/categories', params, sql: categoriesSql(platform) }}
      of={asked}
      aside={
        <PlatformChoice platforms={platforms} value={platform} onChange={(value) => setQuery({ volume: value })} />
      }
    >
      {rows.length === 0 ? (
        <Waiting of={asked} empty="No market is stored yet." />
      ) : (
        <Bars rows={rows.toSorted((a, b) => bySum(a.day, b.day))} platform={platform} />
      )}
      <p class="foot muted">
        Total <UsdSum {...ofAll(asked.data?.categories ?? [], 'volume_24h')} />, price × size.{' '}
        <AsOf at={asked.data?.meta.as_of} complete={asked.data?.meta.data_freshness} />
      </p>
    </Panel>
  );
}

function Bars({ rows, platform }: { rows: readonly { row: Category; day: Sum }[]; platform: string }) {
  const most = Math.max(1, ...rows.map(({ day }) => day.value ?? 0));
  return (
    <table>
      <Columns of={['Category', ['Open markets', 'number'], ['Spread', 'number wide'], ['Volume', 'number']]} />
      <tbody>
        {rows.map(({ row, day }) => (
          <tr key={row.slug}>
            <td class="rung full">
              <span class="depth" style={{ width: `${((day.value ?? 0) / most) * 100}%` }} aria-hidden="true" />
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
              <UsdSum {...day} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
