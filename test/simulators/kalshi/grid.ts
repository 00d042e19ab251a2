import { ONE_DOLLAR, priceText } from './units.ts';

/** Which prices are valid on a market; `label` is only a name, the ranges are the truth. */
export interface Grid {
  label: string;
  ranges: { start: string; end: string; step: string }[];
  /** Every valid price between 0 and 1 (both excluded), ascending. */
  prices: number[];
  has(price: number): boolean;
}

function grid(label: string, parts: [start: number, end: number, step: number][]): Grid {
  const prices = new Set<number>();
  for (const [start, end, step] of parts) {
    for (let price = start; price <= end; price += step) if (price > 0 && price < ONE_DOLLAR) prices.add(price);
  }
  const ranges = parts.map(([start, end, step]) => ({
    start: priceText(start),
    end: priceText(end),
    step: priceText(step),
  }));
  return { label, ranges, prices: [...prices].toSorted((a, b) => a - b), has: (price) => prices.has(price) };
}

export const GRIDS = {
  linearCent: grid('linear_cent', [[0, 10_000, 100]]),
  deciCent: grid('deci_cent', [[0, 10_000, 10]]),
  taperedDeciCent: grid('tapered_deci_cent', [
    [0, 1000, 10],
    [1000, 9000, 100],
    [9000, 10_000, 10],
  ]),
  /** All combos since September 2026. */
  combo: grid('center_deci_edge_centi_cent', [
    [0, 100, 1],
    [100, 9900, 10],
    [9900, 10_000, 1],
  ]),
} as const satisfies Record<string, Grid>;
