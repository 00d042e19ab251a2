import type { OrderBook } from '../parts/answers.ts';
import { sum } from '../parts/exact.ts';
import { priceIn } from '../parts/prefs/price-text.ts';

const WIDE = 360;
const HIGH = 200;
type Levels = OrderBook['yes']['bids'];

/** Corners of the steps of cumulated size, from the best price outwards. */
function stepsOf(levels: Levels, x: (price: number) => number, y: (size: number) => number): string {
  const corners: string[] = [];
  let total = 0;
  for (const { price, size } of levels) {
    corners.push(`${x(price)},${y(total)}`);
    total = sum([total, size]);
    corners.push(`${x(price)},${y(total)}`);
  }
  return corners.join(' ');
}

const totalOf = (levels: Levels): number => sum(levels.map(({ size }) => size));

/** How much size stands within each distance of the best price, on both sides of a book. */
export function Depth({ side, digits, unit }: { side: OrderBook['yes']; digits: number; unit: string }) {
  const most = Math.max(1e-9, totalOf(side.bids), totalOf(side.asks));
  const x = (price: number): number => Math.round(price * WIDE * 10) / 10;
  const y = (size: number): number => Math.round((1 - size / most) * HIGH * 10) / 10;
  const areaOf = (levels: Levels, end: number): string => {
    const [best] = levels;
    return best ? `${stepsOf(levels, x, y)} ${end},${y(totalOf(levels))} ${end},${HIGH} ${x(best.price)},${HIGH}` : '';
  };
  const marks = [0.25, 0.5, 0.75];
  return (
    <figure class="depths">
      <svg viewBox={`0 0 ${WIDE} ${HIGH + 16}`} role="img" aria-label={`Cumulated ${unit} by price`}>
        <polygon class="bids" points={areaOf(side.bids, 0)} />
        <polygon class="asks" points={areaOf(side.asks, WIDE)} />
        {marks.map((price) => (
          <text key={price} x={x(price)} y={HIGH + 13} text-anchor="middle">
            {priceIn(price, digits)}
          </text>
        ))}
      </svg>
    </figure>
  );
}
