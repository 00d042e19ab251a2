import type { Bar, Market, OrderBook, Trade } from '../parts/answers.ts';
import { difference } from '../parts/exact.ts';

/** Whether the address asks for the second of a market's two outcomes: chart, book and tape then show its prices. */
export const isTurned = ({ outcomes }: Pick<Market, 'outcomes'>, query: URLSearchParams): boolean =>
  outcomes.length === 2 && query.get('outcome') === outcomes[1]?.id;

type Side = 'yes' | 'no';
/** The side of a book, whose first outcome is `yes`. */
export const sideOf = (turned: boolean): Side & keyof OrderBook => (turned ? 'no' : 'yes');

const other = (price: number | null): number | null => (price === null ? null : difference(1, price));

/** A bucket in prices of the second outcome: its bid is what the ask of the first leaves of 1. */
export function turnedBar(bar: Bar): Bar {
  const { price, liquidity } = bar;
  return {
    ...bar,
    price: {
      ...price,
      open: other(price.open),
      high: other(price.low),
      low: other(price.high),
      close: other(price.close),
    },
    liquidity: {
      ...liquidity,
      best_bid: other(liquidity.best_ask),
      best_ask: other(liquidity.best_bid),
      midpoint: other(liquidity.midpoint),
    },
  };
}

type Traded = Pick<Trade, 'outcome' | 'side' | 'price'>;

/**
 * The price of a trade in terms of the shown outcome, and the direction in which its taker moves that price. A market of more than two
 * outcomes has no complement: its trades keep their own price.
 */
export function shownTrade(
  { outcome, side, price }: Traded,
  { outcomes }: Pick<Market, 'outcomes'>,
  turned: boolean,
): { price: number; move: 'up' | 'down' } {
  const shown = outcomes[turned ? 1 : 0]?.id;
  const isOther = outcomes.length === 2 && outcome !== shown;
  return {
    price: isOther ? difference(1, price) : price,
    move: (side === 'buy') === isOther ? 'down' : 'up',
  };
}
