import type { Bar } from '../parts/answers.ts';
import { minuteText } from '../parts/prefs/times.ts';
import { zoneName } from '../parts/prefs/prefs.ts';
import { Num, Price } from '../parts/show.tsx';

interface LegendProps {
  bar: Bar | undefined;
  digits: number;
  /** Units of volume and of open interest; null if there is no open interest. */
  counted: string;
  held: string | null;
}

/** The figures of one bucket, above the chart; titles have all digits. */
export function Legend({ bar, digits, counted, held }: LegendProps) {
  if (!bar) return null;
  const time = new Date(bar.timestamp * 1000).toISOString();
  const prices = [
    ['O', bar.price.open],
    ['H', bar.price.high],
    ['L', bar.price.low],
    ['C', bar.price.close],
    ['Bid', bar.liquidity.best_bid],
    ['Ask', bar.liquidity.best_ask],
  ] as const;
  const figures = [
    ['Volume', bar.volume, ` ${counted}`],
    ['Trades', bar.trade_count, ''],
    ...(held === null ? [] : [['Open interest', bar.open_interest, ` ${held}`] as const]),
  ] as const;
  return (
    <p class="legend">
      <time dateTime={time}>{`${minuteText(bar.timestamp)} ${zoneName()}`}</time>
      {prices.map(([name, value]) => (
        <span key={name}>
          <span class="muted">{name}</span> <Price value={value} digits={digits} still />
        </span>
      ))}
      {figures.map(([name, value, unit]) => (
        <span key={name} class={name === 'Open interest' ? 'hue1' : ''}>
          <span class="muted">{name}</span> <Num value={value} unit={unit} digits={unit === '' ? 0 : 2} />
        </span>
      ))}
    </p>
  );
}
