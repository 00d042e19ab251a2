import { Columns } from '../parts/columns.tsx';
import type { CalibrationBin } from '../parts/answers.ts';
import { useApi } from '../parts/api.ts';
import { Choice, Panel, Waiting } from '../parts/panel.tsx';
import { Num, Price } from '../parts/show.tsx';
import { setQuery, usePlace } from '../parts/url.ts';
import { sqlOfCalibration } from './calibration-sql.ts';
import { titled } from '../parts/names.ts';

const EVERY_MS = 120_000;
const HORIZONS = [
  ['1h', '1 hour'],
  ['1d', '1 day'],
  ['7d', '7 days'],
] as const;

/** For each price range, the share of markets that came true and their mean price; a perfect forecast has both equal. */
export function Calibration({ platforms }: { platforms: readonly string[] }) {
  const { query } = usePlace();
  const horizon = HORIZONS.find(([value]) => value === query.get('before'))?.[0] ?? '1h';
  const wanted = query.get('settled') ?? '';
  const platform = platforms.includes(wanted) ? wanted : '';
  const params = { platform, horizon };
  const asked = useApi('/v1/api/analytics/calibration', params, EVERY_MS);
  const { calibration = [], meta } = asked.data ?? {};
  return (
    <Panel
      title="Calibration"
      query={{ path: '/v1/api/analytics/calibration', params, sql: sqlOfCalibration(platform, horizon) }}
      of={asked}
      aside={
        <>
          <select
            aria-label="Platform"
            value={platform}
            onChange={({ currentTarget }) => setQuery({ settled: currentTarget.value })}
          >
            <option value="">All platforms</option>
            {platforms.map((name) => (
              <option key={name} value={name}>
                {titled(name)}
              </option>
            ))}
          </select>
          <Choice
            label="Before the close"
            value={horizon}
            options={HORIZONS}
            onChange={(value) => setQuery({ before: value === '1h' ? '' : value })}
          />
        </>
      }
    >
      {!meta || meta.markets === 0 ? (
        <Waiting of={asked} empty="No settled market has a price that long before it closed." />
      ) : (
        <table>
          <Columns
            of={[
              'Price',
              ['Share and mean price', 'hidden'],
              ['Came true', 'number'],
              ['Mean price', 'number wide'],
              ['Markets', 'number'],
            ]}
          />
          <tbody>
            {calibration.map((bin) => (
              <Bin key={bin.price_from} bin={bin} />
            ))}
          </tbody>
        </table>
      )}
      {meta && (
        <p class="foot muted">
          Settled markets, by the price of the first outcome {HORIZONS.find(([value]) => value === horizon)?.[1]} before
          the close; the bar is the share that came true, the mark the mean price. Brier score{' '}
          <Num value={meta.brier_score} digits={4} /> of <Num value={meta.markets} /> markets;{' '}
          <Num value={meta.left_out.no_price} /> more had no price by then.
        </p>
      )}
    </Panel>
  );
}

/** The bar shows the share that came true, the mark the mean price. */
function Bin({ bin }: { bin: CalibrationBin }) {
  const { price_from: from, price_to: to, came_true_share: share, mean_price: price } = bin;
  return (
    <tr>
      <td class="nowrap">
        <Price value={from} /> – <Price value={to} />
      </td>
      <td class="rung bar">
        {share !== null && <span class="depth" style={{ width: `${share * 100}%` }} aria-hidden="true" />}
        {price !== null && <span class="mark" style={{ left: `${price * 100}%` }} aria-hidden="true" />}
      </td>
      <td class="number">
        <Price value={share} />
      </td>
      <td class="number wide">
        <Price value={price} digits={4} />
      </td>
      <td class="number">
        <Num value={bin.markets} />
      </td>
    </tr>
  );
}
