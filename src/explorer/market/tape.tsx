import { Columns } from '../parts/columns.tsx';
import type { Market, Trade } from '../parts/answers.ts';
import type { Loaded } from '../parts/api.ts';
import { shortId } from '../parts/known-markets.ts';
import { ofMarket, Panel, Waiting } from '../parts/panel.tsx';
import { priceDigits } from '../parts/prices.ts';
import { Num, Price, Time, TradesComplete } from '../parts/show.tsx';
import { GapsOf } from './gaps.tsx';
import { executedAt, type Gap } from './live-market.ts';

interface Props {
  market: Market;
  trades: readonly Trade[];
  asked: Loaded<unknown>;
  freshTo: string | null;
  since: string | null | undefined;
  gaps: readonly Gap[];
}

/** The latest trades of a market, newest first. */
export function Tape({ market, trades, asked, freshTo, since, gaps }: Props) {
  const { platform, platform_id: id } = market;
  const digits = priceDigits(market);
  const names = new Map(market.outcomes.map((outcome) => [outcome.id, outcome.name]));
  const sql = `SELECT executed_at, outcome, side, price, size, notional\nFROM v_trades\nWHERE ${ofMarket(market.id)}\nORDER BY executed_at DESC\nLIMIT 100`;
  return (
    <Panel
      title="Trades"
      class="tape"
      query={{ path: '/v1/api/trades/whales', params: { platform, market_id: id, min_size: 0, limit: 100 }, sql }}
    >
      {trades.length === 0 ? (
        <Waiting of={asked} empty="No trade is stored yet." />
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Last trades">
          <table>
            <Columns of={['Time, UTC', 'Taker', ['Price', 'number'], ['Size', 'number'], ['USD', 'number']]} />
            <tbody>
              {trades.map((trade) => (
                <tr key={trade.trade_id}>
                  <td class="muted">
                    <Time at={executedAt(trade)} />
                  </td>
                  <td class={trade.side === 'buy' ? 'up' : 'down'}>
                    {trade.side} <bdi>{names.get(trade.outcome) ?? shortId(trade.outcome)}</bdi>
                  </td>
                  <td class="number">
                    <Price value={trade.price} digits={digits} />
                  </td>
                  <td class="number">
                    <Num value={trade.size} compact />
                  </td>
                  <td class="number muted">
                    <Num value={trade.notional_value} compact />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p class="foot muted">
        <GapsOf gaps={gaps.filter((gap) => gap.market_id === undefined && gap.platform === platform)} what="Trade" />
        <TradesComplete to={trades.length === 0 ? (freshTo ?? undefined) : freshTo} since={since} />
      </p>
    </Panel>
  );
}
