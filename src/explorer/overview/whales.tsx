import { useState } from 'preact/hooks';
import { executedAt } from '../market/live-market.ts';
import { Columns } from '../parts/columns.tsx';
import type { Trade } from '../parts/answers.ts';
import { SLOW_MS, useApi, useRepeated } from '../parts/api.ts';
import { CHECK_MS, POLL_MS, useStream } from '../parts/live.ts';
import { outcomeName } from '../parts/names.ts';
import { Choice, Panel, quoted, Waiting } from '../parts/panel.tsx';
import { readHealth } from '../parts/platforms.ts';
import { Price, spanText, Time, TradesComplete, Usd } from '../parts/show.tsx';
import { zoneName } from '../parts/prefs/prefs.ts';
import { idOf, setQuery, usePlace } from '../parts/url.ts';
import { OnlyWatched, useOnlyWatched, WalletLink } from '../parts/wallets/watched.tsx';
import { TitleCell, useTitles } from './title-cell.tsx';

const SHOWN = 30;
const FLOORS = [
  ['100', '≥ $100'],
  ['1000', '≥ $1K'],
  ['10000', '≥ $10K'],
] as const;

const sqlOfLarge = (floor: string): string =>
  `SELECT executed_at, platform, market_id, title, outcome, side, price, size, notional\nFROM v_trades\nWHERE notional >= ${floor} AND executed_at >= now() - 86400\nORDER BY executed_at DESC\nLIMIT ${SHOWN}`;

const sqlOfWallets = (addresses: readonly string[]): string =>
  `SELECT executed_at, platform, market_id, title, outcome, side, price, size, notional, trader
FROM v_trades
WHERE trader IN (${addresses.map(quoted).join(', ')})
ORDER BY executed_at DESC
LIMIT ${SHOWN}`;

/** Large trades, added by the stream as they are stored. */
export function Whales() {
  const { query } = usePlace();
  const floor = FLOORS.find(([value]) => value === query.get('usd'))?.[0] ?? '100';
  const only = useOnlyWatched();
  const addresses = only && [...only];
  const watchesNone = addresses?.length === 0;
  const least = addresses ? 0 : Number(floor);
  const key = addresses ? addresses.join(',') : floor;
  const params = {
    min_size: 0,
    ...(addresses ? { addresses: addresses.join(',') } : { min_notional: floor }),
    limit: SHOWN,
  };
  const [heard, setHeard] = useState<{ key: string; trades: Trade[] }>({ key, trades: [] });
  const live = useStream(
    watchesNone
      ? null
      : {
          channels: [addresses ? 'trades' : 'whales'],
          min_size: 0,
          min_notional: least,
          ...(addresses ? { addresses } : {}),
        },
    {
      trade: (trade) => {
        // The stream of another filter may still be open.
        const isWanted = addresses
          ? addresses.includes(trade.trader.address.toLowerCase())
          : trade.notional_value >= least;
        if (!isWanted) return;
        setHeard((before) => ({
          key,
          trades: [trade, ...(before.key === key ? before.trades : [])].slice(0, SHOWN),
        }));
      },
    },
  );
  const everyMs = live ? CHECK_MS : POLL_MS;
  const asked = useApi('/v1/api/trades/whales', watchesNone ? null : params, everyMs);
  const stored = asked.data?.trades ?? [];
  const fresh = heard.key === key ? heard.trades : [];
  const known = new Set(stored.map(keyOf));
  // The stream sends trades in the order in which platforms publish them.
  const rows = [...fresh.filter((trade) => !known.has(keyOf(trade))), ...stored]
    .toSorted((a, b) => executedAt(b).localeCompare(executedAt(a)))
    .slice(0, SHOWN);
  const { marketOf, apart } = useTitles(rows.map((trade) => ({ ...trade, title: titleOf(trade) })));
  const nameOf = (trade: Trade): string => outcomeName(trade, marketOf(idOf(trade)));
  return (
    <Panel
      title={addresses ? 'Trades of watched wallets' : 'Large trades'}
      query={{
        path: '/v1/api/trades/whales',
        params,
        sql: addresses ? sqlOfWallets(addresses) : sqlOfLarge(floor),
      }}
      of={asked}
      aside={
        <>
          <OnlyWatched />
          {!addresses && (
            <Choice
              label="At least"
              value={floor}
              options={FLOORS}
              onChange={(value) => setQuery({ usd: value === '100' ? '' : value })}
            />
          )}
        </>
      }
    >
      {rows.length === 0 ? (
        <Waiting
          of={asked}
          empty={addresses ? 'No trade of these wallets is stored.' : `No stored trade is worth $${floor} or more.`}
        />
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Last trades">
          <table class="trades">
            <Columns of={[`Time, ${zoneName()}`, 'Market', 'Taker', ['Price', 'number'], ['USD', 'number']]} />
            <tbody>
              {rows.map((trade) => (
                <tr key={keyOf(trade)}>
                  <td class="muted nowrap when">
                    <Time at={trade.timestamp} />
                  </td>
                  <TitleCell
                    platform={trade.platform}
                    id={idOf(trade)}
                    title={titleOf(trade)}
                    metadata={marketOf(idOf(trade))?.metadata}
                    apart={apart.get(idOf(trade))}
                  />
                  <td class={`nowrap taker ${trade.side === 'buy' ? 'up' : 'down'}`}>
                    {trade.side} <bdi title={nameOf(trade)}>{nameOf(trade)}</bdi>
                    <WalletLink {...trade.trader} />
                  </td>
                  <td class="number">
                    <Price value={trade.price} />
                  </td>
                  <td class="number">
                    <Usd value={trade.notional_value} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p class="foot muted">{!addresses && <Completeness to={asked.data?.meta.data_freshness} />}</p>
    </Panel>
  );
}

/** Up to when trades of all platforms are complete, and which platforms are behind. */
function Completeness({ to }: { to: string | null | undefined }) {
  const { data: health } = useRepeated('health', readHealth, SLOW_MS);
  const slow = (health?.checks ?? []).filter(
    ({ platform, feed, lag_seconds: lag }) => platform && (feed === 'stale' || lag === null),
  );
  return (
    <>
      <TradesComplete to={to} />
      {slow.length > 0 &&
        ` Behind: ${slow
          .map(
            ({ platform = '', lag_seconds: lag }) =>
              `${platform}${typeof lag === 'number' ? ` (${spanText(lag)})` : ''}`,
          )
          .join(', ')}.`}
    </>
  );
}

const titleOf = (trade: Trade): string => trade.market_title || trade.market_id;
const keyOf = ({ platform, trade_id: id }: Trade): string => `${platform}:${id}`;
