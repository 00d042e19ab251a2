import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { axisTexts } from './axis.ts';
import { rounded } from './exact.ts';
import { zone } from './prefs/prefs.ts';
import { clockText, dayText } from './prefs/times.ts';
import { priceDigitsOf } from './prices.ts';
import { colour, onTheme } from './theme/theme.ts';

export interface Line {
  name: string;
  values: (number | null)[];
}

interface Props {
  /** Unix seconds, or any numbers if `base` is set; ascending. */
  xs: number[];
  lines: Line[];
  /** Name of an x axis other than time. Values are then drawn as points only, because nothing is known between them. */
  base?: string;
  height?: number;
  label: string;
  /** Marks fewer than 300 values with dots, because nothing is known between two of them. */
  points?: boolean;
  /** Draws a value up to the next one, then a step. */
  steps?: boolean;
  /** Decimals of the values, where these are prices. */
  digits?: number;
}

const HUES = ['hue0', 'hue3', 'hue2', 'hue1', 'hue4', 'up', 'down', 'warn', 'muted', 'text'];

/** Times in the zone that the user prefers; midnight is shown as the date. */
const timeTexts = (_plot: uPlot, splits: number[]): string[] =>
  splits.map((at) => (clockText(at) === '00:00' ? dayText(at) : clockText(at)));
const timeText = (_plot: uPlot, at: number | null): string => (at === null ? '–' : `${dayText(at)} ${clockText(at)}`);
const EXACT = new Intl.NumberFormat('en-US', { maximumFractionDigits: 12 });
/** Values in the legend: prices with their decimals, others with all their digits. */
const valueTextOf =
  (digits: number | undefined) =>
  (_plot: uPlot, value: number | null): string => {
    if (value === null) return '–';
    return digits === undefined ? EXACT.format(value) : rounded(value, priceDigitsOf(value, digits));
  };
const valueTexts = (_plot: uPlot, splits: number[]): string[] => axisTexts(splits);
/** Axis width in pixels, enough for the longest label. */
const widthOf = (_plot: uPlot, texts: string[] | null): number =>
  22 + 7 * Math.max(2, ...(texts ?? []).map((text) => text.length));
/** Width of a dot and the line beside it. */
const DOT_PIXELS = 6;
/** Height of the x axis in pixels: one line of labels. */
const LOW = { size: 34 };
const inZone = (seconds: number): Date => {
  const date = new Date(seconds * 1000);
  return zone().timeZone ? uPlot.tzDate(date, 'Etc/UTC') : date;
};

/** While the pointer is outside the chart, the legend shows the last value of each line. */
function showLast(plot: uPlot): void {
  if (typeof plot.legend.idx === 'number') return;
  const idxs = plot.data.map((values) => [...values].findLastIndex((value) => typeof value === 'number'));
  plot.setLegend({ idxs: idxs.map((at) => (at === -1 ? null : at)) }, false);
}

const repeatsLast = (xs: readonly number[]): boolean => xs.length > 1 && xs.at(-1) === xs.at(-2);
/** The library draws only the first of several values at the very end of the x scale. */
const beyond: uPlot.Range.Function = (_plot, min, max) => [min, max + (max - min) / 100];

/** Lines over time, or points over `base`. */
export function LineChart({ xs, lines, base, height = 280, label, points = false, steps = false, digits }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLDivElement>(null);
  const time = base === undefined;
  useEffect(() => {
    const element = box.current;
    const names = legend.current;
    if (!element || !names) return;
    let plot: uPlot | undefined;
    const draw = (): void => {
      plot?.destroy();
      names.replaceChildren();
      const valueText = valueTextOf(digits);
      const stepped = steps ? uPlot.paths.stepped?.({ align: 1 }) : undefined;
      const isDense = xs.length * DOT_PIXELS > element.clientWidth;
      const axis = {
        stroke: colour('muted'),
        grid: { stroke: colour('line'), width: 1 },
        ticks: { stroke: colour('line') },
      };
      plot = new uPlot(
        {
          width: element.clientWidth,
          height,
          scales: { x: repeatsLast(xs) ? { time, range: beyond } : { time } },
          tzDate: inZone,
          axes: [
            { ...axis, ...LOW, values: time ? timeTexts : valueTexts },
            { ...axis, values: valueTexts, size: widthOf },
          ],
          // Outside the element with role="img", so that screen readers reach it.
          legend: { live: true, mount: (_plot, table) => names.append(table) },
          hooks: {
            ready: [showLast],
            setLegend: [showLast],
          },
          series: [
            time ? { label: 'Time', value: timeText } : { label: base, value: valueText },
            ...lines.map(({ name }, n) => {
              const stroke = colour(HUES[n % HUES.length] ?? 'accent');
              const dots = { show: !time || (points && xs.length < 300), size: isDense ? 3 : 5, fill: stroke };
              const line = time ? (stepped ? { paths: stepped } : {}) : { paths: () => null };
              return { label: name, value: valueText, stroke, width: 1.5, spanGaps: true, points: dots, ...line };
            }),
          ],
        },
        [xs, ...lines.map(({ values }) => values)],
        element,
      );
    };
    draw();
    const sized = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height }));
    sized.observe(element);
    const stop = onTheme(draw);
    return () => {
      stop();
      sized.disconnect();
      plot?.destroy();
    };
  }, [xs, lines, base, height, points, steps, digits]);
  return (
    <div class="lines">
      <div ref={box} role="img" aria-label={label} />
      <div ref={legend} />
    </div>
  );
}
