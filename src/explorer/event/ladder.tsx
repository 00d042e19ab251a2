import { Columns } from '../parts/columns.tsx';
import type { Market } from '../parts/answers.ts';
import { Amount } from '../parts/lists/amount.tsx';
import { payoutsOf, priceDigits } from '../parts/prices.ts';
import { MarketStatus } from '../parts/market-status.tsx';
import { Change, Price } from '../parts/show.tsx';
import { marketAddress } from '../parts/url.ts';

interface LadderProps {
  markets: readonly Market[];
  names: ReadonlyMap<string, string>;
}

/** The markets of an event, most likely first, with their prices as bars. */
export function Ladder({ markets, names }: LadderProps) {
  return (
    <div class="scroll">
      <table>
        <Columns
          of={[
            'Market',
            ['Price', 'number'],
            ['Change 24 h', 'number'],
            ['Bid', 'number wide'],
            ['Ask', 'number wide'],
            ['Volume 24 h', 'number'],
            ['Liquidity', 'number wide'],
          ]}
        />
        <tbody>
          {markets.map((market) => {
            const [outcome] = market.outcomes;
            const digits = priceDigits(market);
            const paid = payoutsOf(market)[outcome?.id ?? ''];
            const quote = market.current_prices[outcome?.id ?? ''];
            return (
              <tr key={market.id}>
                <td class="cut lines-2 rung">
                  <span class="depth" style={{ width: `${(quote?.price ?? 0) * 100}%` }} aria-hidden="true" />
                  <a href={marketAddress(market.id)} title={market.title}>
                    <bdi>{names.get(market.id) || market.title}</bdi>
                  </a>{' '}
                  {market.status !== 'open' && <MarketStatus market={market} />}
                  {paid !== undefined && (
                    <span class="muted">
                      {' '}
                      paid <Price value={paid} />
                    </span>
                  )}
                </td>
                <td class="number">
                  <Price value={quote?.price} digits={digits} strong />
                </td>
                <td class="number">
                  <Change value={market.price_24h_changes[outcome?.id ?? '']} digits={digits} />
                </td>
                <td class="number wide">
                  <Price value={quote?.bid} digits={digits} />
                </td>
                <td class="number wide">
                  <Price value={quote?.ask} digits={digits} />
                </td>
                <Amount value={market.volume_24h_usd} basis={market.usd_basis.volume_24h} />
                <Amount value={market.liquidity_usd} basis={market.usd_basis.liquidity} wide />
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
