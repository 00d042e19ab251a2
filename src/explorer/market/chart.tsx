import {
  CandlestickSeries,
  ColorType,
  createChart,
  createTextWatermark,
  CrosshairMode,
  HistogramSeries,
  LineSeries,
  LineType,
  type IChartApi,
  type ISeriesApi,
  type ITextWatermarkPluginApi,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Bar, Market } from '../parts/answers.ts';
import { axisTexts } from '../parts/axis.ts';
import { priceDigits } from '../parts/prices.ts';
import { countsContracts } from '../parts/show.tsx';
import { Band, type Quoted } from './band.ts';
import { zone } from '../parts/prefs/prefs.ts';
import { priceIn } from '../parts/prefs/price-text.ts';
import { clockText, dayText, minuteText } from '../parts/prefs/times.ts';
import { Legend } from './legend.tsx';
import { MAX_BARS } from './ranges.ts';
import { colour, onTheme } from '../parts/theme/theme.ts';

interface Parts {
  chart: IChartApi;
  /** The last trade of each bucket, as a step; or its candle. */
  steps: ISeriesApi<'Line'>;
  candles: ISeriesApi<'Candlestick'>;
  bid: ISeriesApi<'Line'>;
  ask: ISeriesApi<'Line'>;
  band: ISeriesApi<'Custom'>;
  volume: ISeriesApi<'Histogram'>;
  /** null if the platform reports none. */
  interest: ISeriesApi<'Line'> | null;
  /** Titles of the lower panes. */
  labels: { text: string; mark: ITextWatermarkPluginApi<Time> }[];
}

const QUOTE_LINE = {
  lineWidth: 1,
  priceLineVisible: false,
  lastValueVisible: false,
  crosshairMarkerVisible: false,
} as const;
const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 4 });
const COUNTS = {
  type: 'custom',
  minMove: 0.01,
  formatter: (value: number) => COMPACT.format(value),
  tickmarksFormatter: axisTexts,
} as const;
const at = (bar: Bar): UTCTimestamp => bar.timestamp as UTCTimestamp;

interface ChartProps {
  bars: readonly Bar[];
  market: Market;
  /** Bucket width in seconds. */
  width: number;
  isCandles: boolean;
  /** Bars of the previous range, shown until those of the next are loaded. */
  isOld: boolean;
  /** Set to a function that draws the chart as a picture. */
  picture: { current: (() => HTMLCanvasElement) | null };
}

/** Candles over the band between bid and ask, volume and open interest below. Hovering over a bucket shows its exact figures. */
export function Chart({ bars, market, width, isCandles, isOld, picture }: ChartProps) {
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
    picture.current = () => made.chart.takeScreenshot();
    made.chart.subscribeCrosshairMove(({ time }) =>
      setPointed(time === undefined ? null : (shown.current.find((bar) => bar.timestamp === time) ?? null)),
    );
    paint(made);
    fill(made, shown.current, width);
    const stop = onTheme(() => {
      paint(made);
      fill(made, shown.current, width);
    });
    return () => {
      stop();
      parts.current = null;
      picture.current = null;
      made.chart.remove();
    };
  }, [digits, hasInterest]);
  useEffect(() => {
    parts.current?.steps.applyOptions({ visible: !isCandles });
    parts.current?.candles.applyOptions({ visible: isCandles });
    parts.current?.chart.timeScale().applyOptions({ maxBarSpacing: isCandles ? CANDLE_PIXELS : 0 });
    if (parts.current) frame(parts.current.chart, shown.current, width, isCandles);
  }, [isCandles, digits, hasInterest]);
  const drawn = useRef(bars);
  useEffect(() => {
    if (parts.current && drawn.current !== bars) {
      const { current: before } = drawn;
      change(parts.current, before, bars, width);
      if (isOther(before, bars)) frame(parts.current.chart, bars, width, isCandles);
    }
    drawn.current = bars;
  }, [bars]);

  const bar = pointed ?? bars.at(-1);
  return (
    <div class={`chart ${isOld ? 'old' : ''}`} aria-busy={isOld}>
      <Legend bar={bar} digits={digits} counted={counted} held={hasInterest ? held : null} />
      <div ref={box} class="canvas" role="img" aria-label={`Price of ${market.title} over time`} />
    </div>
  );
}

/** `titles` are those of the panes below the prices: volume, and open interest if known. */
function build(box: HTMLElement, digits: number, titles: readonly string[]): Parts {
  const chart = createChart(box, {
    autoSize: true,
    layout: { attributionLogo: false, fontSize: 11, panes: { enableResize: false } },
    crosshair: { mode: CrosshairMode.Normal },
    localization: { timeFormatter: (time: Time) => minuteText(Number(time)) },
    timeScale: {
      timeVisible: true,
      secondsVisible: false,
      // The library places marks at days and months of UTC.
      ...(zone().timeZone ? {} : { tickMarkFormatter: (time: Time) => clockOrDay(Number(time)) }),
    },
    handleScale: { axisPressedMouseMove: false },
  });
  const priceFormat = {
    type: 'custom',
    minMove: 10 ** -digits,
    formatter: (value: number) => priceIn(value, digits),
  } as const;
  const band = chart.addCustomSeries(new Band(), { priceFormat });
  const bid = chart.addSeries(LineSeries, { ...QUOTE_LINE, priceFormat });
  const ask = chart.addSeries(LineSeries, { ...QUOTE_LINE, priceFormat });
  const steps = chart.addSeries(LineSeries, { priceFormat, lineType: LineType.WithSteps, lineWidth: 2 });
  const candles = chart.addSeries(CandlestickSeries, { priceFormat, borderVisible: false });
  const counted = { priceFormat: COUNTS, priceLineVisible: false, lastValueVisible: false } as const;
  const volume = chart.addSeries(HistogramSeries, counted, 1);
  // Its pane may be too low for another label.
  const interest =
    titles.length > 1
      ? chart.addSeries(
          LineSeries,
          { ...counted, lastValueVisible: true, lineWidth: 1, crosshairMarkerVisible: false },
          2,
        )
      : null;
  chart.panes()[0]?.setStretchFactor(5);
  chart.panes()[1]?.setStretchFactor(1.2);
  chart.panes()[2]?.setStretchFactor(1);
  const labels = titles.flatMap((text, n) => {
    const pane = chart.panes()[n + 1];
    return pane ? [{ text, mark: createTextWatermark(pane, { horzAlign: 'left', vertAlign: 'top' }) }] : [];
  });
  return { chart, steps, candles, bid, ask, band, volume, interest, labels };
}

const clockOrDay = (seconds: number): string =>
  clockText(seconds) === '00:00' ? dayText(seconds) : clockText(seconds);

function paint({ chart, steps, candles, bid, ask, band, interest, labels }: Parts): void {
  const [line, up, down] = [colour('line'), colour('up'), colour('down')];
  chart.applyOptions({
    layout: {
      background: { type: ColorType.Solid, color: colour('surface') },
      textColor: colour('muted'),
      panes: { separatorColor: line },
    },
    grid: { vertLines: { color: line }, horzLines: { color: line } },
    timeScale: { borderColor: line },
    rightPriceScale: { borderColor: line, entireTextOnly: true, scaleMargins: { top: 0.06, bottom: 0.04 } },
  });
  // A small empty line keeps the title away from the border of its pane.
  for (const { text, mark } of labels)
    mark.applyOptions({
      lines: [
        { text: ' ', fontSize: 4 },
        { text, color: colour('muted'), fontSize: 11 },
      ],
    });
  steps.applyOptions({ color: colour('accent') });
  candles.applyOptions({ upColor: up, downColor: down, wickUpColor: up, wickDownColor: down });
  band.applyOptions({ color: `${colour('muted')}26` });
  bid.applyOptions({ color: `${up}70` });
  ask.applyOptions({ color: `${down}70` });
  interest?.applyOptions({ color: colour('hue1') });
}

/** Fewer candles than this are centred, each as wide as if there were this many. */
const FEWEST = 40;
/** Largest width of a candle and the space beside it. */
const CANDLE_PIXELS = 18;
/** Space for half a time label beside the first and the last candle. */
const LABEL_PIXELS = 26;
const PRICE_AXIS_PIXELS = 60;

/** Live trading adds at most this many bars at once; more come from trades that were still being fetched. */
const NEW_BARS = 3;
const isOther = (before: readonly Bar[], bars: readonly Bar[]): boolean =>
  before[0]?.timestamp !== bars[0]?.timestamp || Math.abs(bars.length - before.length) > NEW_BARS;

/** Fits all buckets into view, including those without a candle; a line fills the width however few there are. */
function frame(chart: IChartApi, bars: readonly Bar[], width: number, isCandles: boolean): void {
  const count = 1 + ((bars.at(-1)?.timestamp ?? 0) - (bars[0]?.timestamp ?? 0)) / width;
  const pixels = chart.chartElement().clientWidth;
  const room = (count * LABEL_PIXELS) / Math.max(1, pixels - PRICE_AXIS_PIXELS - 2 * LABEL_PIXELS);
  const side = isCandles ? Math.max(room, (FEWEST - count) / 2) : room;
  chart.timeScale().setVisibleLogicalRange({ from: -side, to: count - 1 + side });
}

/** A point of a series, or a gap if there is no value. */
const known = <T extends object>(bar: Bar, value: T | null) => ({ time: at(bar), ...value });

/** The chart spaces points evenly, whatever their times: an empty bucket needs a point without a value. */
function spaced(bars: readonly Bar[], width: number): { time: UTCTimestamp }[] {
  const known = new Set(bars.map(({ timestamp }) => timestamp));
  const empty: { time: UTCTimestamp }[] = [];
  const [first, last] = [bars[0]?.timestamp ?? 0, bars.at(-1)?.timestamp ?? 0];
  for (let time = first; time < last && empty.length < MAX_BARS; time += width) {
    if (!known.has(time)) empty.push({ time: time as UTCTimestamp });
  }
  return empty;
}

function pointsOf(bars: readonly Bar[], width: number) {
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
  const quoted = bars.map((bar): Quoted | { time: UTCTimestamp } => {
    const { best_bid: bid, best_ask: ask } = bar.liquidity;
    return known(bar, bid === null || ask === null ? null : { bid, ask });
  });
  const [up, down] = [`${colour('up')}80`, `${colour('down')}80`];
  const volume = bars.map((bar) => {
    const { open, close } = bar.price;
    const color = (close ?? 0) >= (open ?? 0) ? up : down;
    return known(bar, bar.volume === null ? null : { value: bar.volume, color });
  });
  return {
    steps: line((bar) => bar.price.close),
    candles: [...traded, ...spaced(bars, width)].toSorted((a, b) => a.time - b.time),
    bid: line((bar) => bar.liquidity.best_bid),
    ask: line((bar) => bar.liquidity.best_ask),
    band: quoted,
    volume,
    interest: line((bar) => bar.open_interest),
  };
}

function fill(parts: Parts, bars: readonly Bar[], width: number): void {
  const points = pointsOf(bars, width);
  parts.steps.setData(points.steps.filter((one) => 'value' in one));
  parts.candles.setData(points.candles);
  parts.band.setData(points.band);
  parts.bid.setData(points.bid);
  parts.ask.setData(points.ask);
  parts.interest?.setData(points.interest);
  parts.volume.setData(points.volume);
}

/** Replaces `before` on the chart with `bars`; if only the last bars differ, only those are updated. */
function change(parts: Parts, before: readonly Bar[], bars: readonly Bar[], width: number): void {
  const from = before.length - 1;
  const isLonger = from > 0 && bars.length > from && bars[from]?.timestamp === before[from]?.timestamp;
  if (!isLonger || before.some((bar, n) => n < from && bar !== bars[n])) return fill(parts, bars, width);
  const points = pointsOf(bars.slice(from), width);
  for (const one of points.steps) if ('value' in one) parts.steps.update(one);
  for (const one of points.candles) parts.candles.update(one);
  for (const one of points.band) parts.band.update(one);
  for (const one of points.bid) parts.bid.update(one);
  for (const one of points.ask) parts.ask.update(one);
  for (const one of points.interest) parts.interest?.update(one);
  for (const one of points.volume) parts.volume.update(one);
}
