import {
  CandlestickSeries,
  ColorType,
  createChart,
  createTextWatermark,
  CrosshairMode,
  HistogramSeries,
  LineSeries,
  type IChartApi,
  type ISeriesApi,
  type ITextWatermarkPluginApi,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Bar, Market } from '../parts/answers.ts';
import { priceDigits } from '../parts/prices.ts';
import { countsContracts, Num, Price } from '../parts/show.tsx';
import { MAX_BARS } from './ranges.ts';
import { colour, onTheme } from '../parts/theme.ts';

interface Parts {
  chart: IChartApi;
  candles: ISeriesApi<'Candlestick'>;
  bid: ISeriesApi<'Line'>;
  ask: ISeriesApi<'Line'>;
  volume: ISeriesApi<'Histogram'>;
  /** Null where the platform reports none. */
  interest: ISeriesApi<'Line'> | null;
  /** Titles in the panes below. */
  labels: { text: string; mark: ITextWatermarkPluginApi<Time> }[];
}

const QUOTE_LINE = {
  lineWidth: 1,
  priceLineVisible: false,
  lastValueVisible: false,
  crosshairMarkerVisible: false,
} as const;
const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 4 });
const COUNTS = { type: 'custom', minMove: 0.01, formatter: (value: number) => COMPACT.format(value) } as const;
const at = (bar: Bar): UTCTimestamp => bar.timestamp as UTCTimestamp;

interface ChartProps {
  bars: readonly Bar[];
  market: Market;
  /** Seconds of a bucket. */
  width: number;
  /** Shown until the bars of another range are there. */
  isOld: boolean;
}

/** Candles with bid and ask as lines, volume and open interest below. Pointing at a bucket shows its exact figures. */
export function Chart({ bars, market, width, isOld }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const parts = useRef<Parts | null>(null);
  const shown = useRef<readonly Bar[]>([]);
  const [pointed, setPointed] = useState<Bar | null>(null);
  const hasInterest = bars.some(({ open_interest: held }) => held !== null);
  const digits = priceDigits(market);
  const counted = countsContracts(market.metadata) ? 'contracts' : 'shares';
  const held = countsContracts(market.metadata) ? 'contracts' : 'USD';
  shown.current = bars;

  useEffect(() => {
    if (!box.current) return;
    const made = build(box.current, digits, [`Volume, ${counted}`, ...(hasInterest ? [`Open interest, ${held}`] : [])]);
    parts.current = made;
    made.chart.subscribeCrosshairMove(({ time }) =>
      setPointed(time === undefined ? null : (shown.current.find((bar) => bar.timestamp === time) ?? null)),
    );
    paint(made);
    fill(made, shown.current, width);
    made.chart.timeScale().fitContent();
    const stop = onTheme(() => {
      paint(made);
      fill(made, shown.current, width);
    });
    return () => {
      stop();
      parts.current = null;
      made.chart.remove();
    };
  }, [digits, hasInterest]);
  useEffect(() => {
    if (parts.current) fill(parts.current, bars, width);
  }, [bars]);

  const bar = pointed ?? bars.at(-1);
  return (
    <div class={`chart ${isOld ? 'old' : ''}`} aria-busy={isOld}>
      <Legend bar={bar} digits={digits} counted={counted} held={hasInterest ? held : null} />
      <div
        ref={box}
        class="canvas"
        role="img"
        aria-label={`Price of ${market.title} over time; the figures are in the query`}
      />
    </div>
  );
}

/** `titles` are those of the panes below the prices: volume, and open interest where it is known. */
function build(box: HTMLElement, digits: number, titles: readonly string[]): Parts {
  const chart = createChart(box, {
    autoSize: true,
    layout: { attributionLogo: false, fontSize: 11, panes: { enableResize: false } },
    crosshair: { mode: CrosshairMode.Normal },
    timeScale: { timeVisible: true, secondsVisible: false, maxBarSpacing: 18 },
    handleScale: { axisPressedMouseMove: false },
  });
  const priceFormat = { type: 'price', precision: digits, minMove: 10 ** -digits } as const;
  const bid = chart.addSeries(LineSeries, { ...QUOTE_LINE, priceFormat });
  const ask = chart.addSeries(LineSeries, { ...QUOTE_LINE, priceFormat });
  const candles = chart.addSeries(CandlestickSeries, { priceFormat, borderVisible: false });
  const counted = { priceFormat: COUNTS, priceLineVisible: false, lastValueVisible: false } as const;
  const volume = chart.addSeries(HistogramSeries, counted, 1);
  const interest =
    titles.length > 1
      ? chart.addSeries(LineSeries, { ...counted, lineWidth: 1, crosshairMarkerVisible: false }, 2)
      : null;
  chart.panes()[0]?.setStretchFactor(5);
  chart.panes()[1]?.setStretchFactor(1.2);
  chart.panes()[2]?.setStretchFactor(1);
  const labels = titles.flatMap((text, n) => {
    const pane = chart.panes()[n + 1];
    return pane ? [{ text, mark: createTextWatermark(pane, { horzAlign: 'left', vertAlign: 'top' }) }] : [];
  });
  return { chart, candles, bid, ask, volume, interest, labels };
}

function paint({ chart, candles, bid, ask, interest, labels }: Parts): void {
  const [line, up, down] = [colour('line'), colour('up'), colour('down')];
  chart.applyOptions({
    layout: {
      background: { type: ColorType.Solid, color: colour('surface') },
      textColor: colour('muted'),
      panes: { separatorColor: line },
    },
    grid: { vertLines: { color: line }, horzLines: { color: line } },
    timeScale: { borderColor: line },
    rightPriceScale: { borderColor: line, scaleMargins: { top: 0.06, bottom: 0.04 } },
  });
  for (const { text, mark } of labels) mark.applyOptions({ lines: [{ text, color: colour('muted'), fontSize: 11 }] });
  candles.applyOptions({ upColor: up, downColor: down, wickUpColor: up, wickDownColor: down });
  bid.applyOptions({ color: `${up}70` });
  ask.applyOptions({ color: `${down}70` });
  interest?.applyOptions({ color: colour('hue1') });
}

/** A point of a series; without a value it is a gap. */
const known = <T extends object>(bar: Bar, value: T | null) => ({ time: at(bar), ...value });

/** The chart counts points, not time: a bucket without anything in it is a point without a value. */
function spaced(bars: readonly Bar[], width: number): { time: UTCTimestamp }[] {
  const known = new Set(bars.map(({ timestamp }) => timestamp));
  const empty: { time: UTCTimestamp }[] = [];
  const [first, last] = [bars[0]?.timestamp ?? 0, bars.at(-1)?.timestamp ?? 0];
  for (let time = first; time < last && empty.length < MAX_BARS; time += width) {
    if (!known.has(time)) empty.push({ time: time as UTCTimestamp });
  }
  return empty;
}

function fill({ candles, bid, ask, volume, interest }: Parts, bars: readonly Bar[], width: number): void {
  const empty = spaced(bars, width);
  const line = (pick: (bar: Bar) => number | null) =>
    bars.map((bar) => {
      const value = pick(bar);
      return known(bar, value === null ? null : { value });
    });
  const traded = bars.map((bar) => {
    const { open, high, low, close } = bar.price;
    const isTraded = open !== null && high !== null && low !== null && close !== null;
    return known(bar, isTraded ? { open, high, low, close } : null);
  });
  candles.setData([...traded, ...empty].toSorted((a, b) => a.time - b.time));
  bid.setData(line((bar) => bar.liquidity.best_bid));
  ask.setData(line((bar) => bar.liquidity.best_ask));
  interest?.setData(line((bar) => bar.open_interest));
  const [up, down] = [`${colour('up')}80`, `${colour('down')}80`];
  volume.setData(
    bars.map((bar) => {
      const { open, close } = bar.price;
      const color = (close ?? 0) >= (open ?? 0) ? up : down;
      return known(bar, bar.volume === null ? null : { value: bar.volume, color });
    }),
  );
}

interface LegendProps {
  bar: Bar | undefined;
  digits: number;
  /** Units of volume, and of open interest; null where there is none. */
  counted: string;
  held: string | null;
}

/** The exact figures of one bucket, above the chart. */
function Legend({ bar, digits, counted, held }: LegendProps) {
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
      <time dateTime={time}>{`${time.slice(0, 10)} ${time.slice(11, 16)} UTC`}</time>
      {prices.map(([name, value]) => (
        <span key={name}>
          <span class="muted">{name}</span> <Price value={value} digits={digits} still />
        </span>
      ))}
      {figures.map(([name, value, unit]) => (
        <span key={name} class={name === 'Open interest' ? 'hue1' : ''}>
          <span class="muted">{name}</span> <Num value={value} unit={unit} />
        </span>
      ))}
    </p>
  );
}
