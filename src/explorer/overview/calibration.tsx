import { Columns } from '../parts/columns.tsx';
import type { CalibrationBin } from '../parts/answers.ts';
import { useApi } from '../parts/api.ts';
import { Choice, Panel, Waiting } from '../parts/panel.tsx';
import { Num, Price } from '../parts/show.tsx';
import { setQuery, usePlace } from '../parts/url.ts';

const SLOW_MS = 120_000;
const HORIZONS = [
  ['1h', '1 hour'],
  ['1d', '1 day'],
  ['7d', '7 days'],
] as const;

/** How often markets of each price came true, beside that price: equal lengths are a perfect forecast. */
export function Calibration({ platforms }: { platforms: readonly string[] }) {
  const { query } = usePlace();
  const horizon = HORIZONS.find(([value]) => value === query.get('before'))?.[0] ?? '1h';
  const wanted = query.get('platform') ?? '';
  const params = { platform: platforms.includes(wanted) ? wanted : '', horizon };
  const asked = useApi('/v1/api/analytics/calibration', params, SLOW_MS);
  const { calibration = [], meta } = asked.data ?? {};
  return (
    <Panel
      title="Calibration of settled markets"
      query={{ path: '/v1/api/analytics/calibration', params }}
      aside={
        <Choice
          label="Before the close"
          value={horizon}
          options={HORIZONS}
          onChange={(value) => setQuery({ before: value === '1h' ? '' : value })}
        />
      }
    >
      {!meta || meta.markets === 0 ? (
        <Waiting of={asked} empty="No settled market has a price that long before it closed." />
      ) : (
        <table>
          <Columns of={['Price', ['Came true', 'number'], ['Mean price', 'number wide'], ['Markets', 'number']]} />
          <tbody>
            {calibration.map((bin) => (
              <Bin key={bin.price_from} bin={bin} />
            ))}
          </tbody>
        </table>
      )}
      {meta && (
        <p class="foot muted">
          Prices of first outcomes {HORIZONS.find(([value]) => value === horizon)?.[1]} before the close. Brier score{' '}
          <Price value={meta.brier_score} digits={4} /> of <Num value={meta.markets} /> markets;{' '}
          <Num value={meta.left_out.no_price} /> more had no price by then.
        </p>
      )}
    </Panel>
  );
}

/** The bar is the share that came true, the line the mean price. */
function Bin({ bin }: { bin: CalibrationBin }) {
  const { price_from: from, price_to: to, came_true_share: share, mean_price: price } = bin;
  return (
    <tr>
      <td class="rung full">
        {share !== null && <span class="depth" style={{ width: `${share * 100}%` }} aria-hidden="true" />}
        {price !== null && <span class="mark" style={{ left: `${price * 100}%` }} aria-hidden="true" />}
        <span>
          <Price value={from} /> – <Price value={to} />
        </span>
      </td>
      <td class="number">
        <Price value={share} />
      </td>
      <td class="number wide">
        <Price value={price} />
      </td>
      <td class="number">
        <Num value={bin.markets} />
      </td>
    </tr>
  );
}
