import { Columns } from '../parts/columns.tsx';
import type { Market, Trade } from '../parts/answers.ts';
import type { Loaded } from '../parts/api.ts';
import { shortId } from '../parts/names.ts';
import { ofMarket, Panel, Waiting } from '../parts/panel.tsx';
import { priceDigits } from '../parts/prices.ts';
import { Num, Price, Time, TradesComplete } from '../parts/show.tsx';
import { zoneName } from '../parts/prefs/prefs.ts';
import { OnlyWatched, useOnlyWatched, WalletLink } from '../parts/wallets/watched.tsx';
import { GapsOf } from './gaps.tsx';
import { executedAt, type Gap } from './live-market.ts';
import { shownTrade } from './turned.ts';

interface Props {
  market: Market;
  trades: readonly Trade[];
  asked: Loaded<unknown>;
  freshTo: string | null;
  since: string | null | undefined;
  /** Shows prices of the second of two outcomes. */
  turned: boolean;
  gaps: readonly Gap[];
}

/** The latest trades of a market, newest first. */
export function Tape({ market, trades: all, asked, freshTo, since, turned, gaps }: Props) {
  const { platform, platform_id: id } = market;
  const only = useOnlyWatched();
  const trades = only ? all.filter(({ trader }) => only.has(trader.address.toLowerCase())) : all;
  const digits = priceDigits(market);
  const shown = market.outcomes.length > 2 ? 'outcome' : (market.outcomes[turned ? 1 : 0]?.name ?? 'outcome');
  const names = new Map(market.outcomes.map((outcome) => [outcome.id, outcome.name]));
  const sql = `SELECT executed_at, outcome, side, price, size, notional\nFROM v_trades\nWHERE ${ofMarket(market.id)}\nORDER BY executed_at DESC\nLIMIT 100`;
  return (
    <Panel
      title="Trades"
      class="tape"
      query={{ path: '/v1/api/trades/whales', params: { platform, market_id: id, min_size: 0, limit: 100 }, sql }}
      aside={<OnlyWatched />}
    >
      {trades.length === 0 ? (
        <Waiting
          of={asked}
          empty={only ? 'None of the last trades is by a wallet that you watch.' : 'No trade is stored yet.'}
        />
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Last trades">
          <table>
            <Columns
              of={[
                `Time, ${zoneName()}`,
                'Taker',
                [`Price of ${shown}`, 'number'],
                ['Size', 'number'],
                ['USD', 'number'],
              ]}
            />
            <tbody>
              {trades.map((trade) => {
                const { price, move } = shownTrade(trade, market, turned);
                return (
                  <tr key={trade.trade_id}>
                    <td class="muted">
                      <Time at={executedAt(trade)} />
                    </td>
                    <td class="muted">
                      {trade.side} <bdi>{names.get(trade.outcome) ?? shortId(trade.outcome)}</bdi>
                      <WalletLink {...trade.trader} />
                    </td>
                    <td class={`number ${move}`}>
                      <Price value={price} digits={digits} still />
                    </td>
                    <td class="number">
                      <Num value={trade.size} compact />
                    </td>
                    <td class="number muted">
                      <Num value={trade.notional_value} compact />
                    </td>
                  </tr>
                );
              })}
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
