import { init, type EChartsOption } from 'echarts';
import type { Series, Table } from './data.ts';
import { inUnit } from './units.ts';

export const COLORS = [
  '#73bf69',
  '#5794f2',
  '#ff9830',
  '#f2495c',
  '#b877d9',
  '#f2cc0c',
  '#8ab8ff',
  '#ffa6b0',
  '#96d98d',
  '#ca95e5',
];
export const FAINT = '#8e8e9a';
const GRID = '#2a2d33';
const LEGEND_ROW_PX = 20;
/** Lines beyond these are left out, the smallest first: twenty colours cannot be distinguished. */
const MOST_SERIES = 8;
const LEGEND_LETTER_PX = 5.6;
const LEGEND_MARK_PX = 27;

interface Size {
  width: number;
  height: number;
}

/** A chart as an <svg> element, its numbers cut to what a screen shows. */
function render(option: EChartsOption, { width, height }: Size): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height });
  chart.setOption({ animation: false, color: COLORS, textStyle: { fontFamily: 'sans-serif' }, ...option });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return still(svg);
}

/** An image does not react: without styles and marks for the pointer, and with the decimals a screen shows. */
const still = (svg: string): string =>
  svg
    .replaceAll(/<style\s*>.*?<\/style>/gs, '')
    .replaceAll(/ (?:class|ecmeta_\w+|pointer-events|baseProfile|xmlns:xlink)="[^"]*"/g, '')
    .replaceAll(/<[^>]+>/g, (tag) =>
      tag.replaceAll(/-?\d+\.\d{2,}/g, (number) => String(Number(Number(number).toFixed(1)))),
    );

const axes = (range: { from: Date; to: Date }, unit?: string, scale = false): EChartsOption => ({
  xAxis: {
    type: 'time',
    min: range.from.getTime(),
    max: range.to.getTime(),
    axisLabel: { color: FAINT, fontSize: 10, hideOverlap: true, formatter: clock(range) },
    axisLine: { lineStyle: { color: GRID } },
    axisTick: { show: false },
    splitNumber: 5,
  },
  yAxis: {
    type: 'value',
    scale,
    axisLabel: { color: FAINT, fontSize: 10, formatter: (value: number) => inUnit(value, unit) },
    splitLine: { lineStyle: { color: GRID } },
    splitNumber: 4,
  },
});

/** UTC: hours and minutes within a day or two, days beyond. */
const clock = ({ from, to }: { from: Date; to: Date }) => {
  const days = to.getTime() - from.getTime() > 2 * 86_400_000;
  return (ms: number): string => new Date(ms).toISOString().slice(...(days ? [5, 10] : [11, 16]));
};

const legend: EChartsOption['legend'] = {
  bottom: 5,
  left: 8,
  itemWidth: 10,
  itemHeight: 4,
  icon: 'rect',
  itemGap: 12,
  padding: 0,
  textStyle: { color: '#ccccdc', fontSize: 10 },
};

/** Rows that names take below a chart. */
function legendRows(names: readonly string[], width: number): number {
  let rows = 1;
  let used = 0;
  for (const name of names) {
    const px = name.length * LEGEND_LETTER_PX + LEGEND_MARK_PX;
    if (used > 0 && used + px > width - 24) {
      rows += 1;
      used = 0;
    }
    used += px;
  }
  return rows;
}

const sizeOf = ({ points }: Series): number => points.reduce((sum, [, value]) => sum + (value ?? 0), 0);

/** The largest series, in their order. */
function largest(series: readonly Series[]): readonly Series[] {
  const least = series.map(sizeOf).toSorted((a, b) => b - a)[MOST_SERIES - 1] ?? -Infinity;
  return series.filter((one) => sizeOf(one) >= least).slice(0, MOST_SERIES);
}

export interface TimeChart extends Size {
  from: Date;
  to: Date;
  intervalSeconds: number;
  unit?: string | undefined;
  bars: boolean;
}

/** Lines, or stacked bars, over time. */
export function timeChart(all: readonly Series[], chart: TimeChart): string {
  const series = largest(all);
  const { from, to, intervalSeconds, unit, bars, width } = chart;
  const times = [...new Set(series.flatMap(({ points }) => points.map(([time]) => time)))].toSorted((a, b) => a - b);
  const steps = (to.getTime() - from.getTime()) / 1000 / Math.max(intervalSeconds, closest(times));
  const barWidth = Math.max(2, ((width - 70) / steps) * 0.8);
  const lines = series.map(({ name, points }) => {
    const at = new Map(points);
    return bars
      ? { name, type: 'bar' as const, stack: 'all', barWidth, data: times.map((time) => [time, at.get(time) ?? 0]) }
      : {
          name,
          type: 'line' as const,
          data: points,
          showSymbol: points.length < 3,
          connectNulls: true,
          lineStyle: { width: 1.5 },
          ...(series.length > 2 ? {} : { areaStyle: { opacity: 0.1, origin: 'start' as const } }),
        };
  });
  const rows = legendRows(
    series.map(({ name }) => name),
    width,
  );
  const grid = { left: 8, right: 14, top: 10, bottom: rows * LEGEND_ROW_PX + 4, containLabel: true };
  return render({ ...axes(chart, unit, !bars), grid, legend, series: lines }, chart);
}

/** Seconds between the nearest two times; 0 where there are not two. */
const closest = (times: number[]): number =>
  times.length < 2 ? 0 : Math.min(...times.slice(1).map((time, i) => (time - (times[i] ?? 0)) / 1000));

/** Candles over bars of volume; rows of time, open, high, low, close, volume. */
export function candleChart({ rows }: Table, range: Size & { from: Date; to: Date }): string {
  const times = rows.map(([time]) => (time instanceof Date ? clock(range)(time.getTime()) : ''));
  const color = {
    color: COLORS[0] ?? '',
    color0: COLORS[3] ?? '',
    borderColor: COLORS[0] ?? '',
    borderColor0: COLORS[3] ?? '',
  };
  const label = { color: FAINT, fontSize: 10 };
  const line = { lineStyle: { color: GRID } };
  return render(
    {
      grid: [
        { left: 46, right: 14, top: 10, height: '62%' },
        { left: 46, right: 14, bottom: 22, height: '18%' },
      ],
      xAxis: [0, 1].map((gridIndex) => ({
        type: 'category' as const,
        gridIndex,
        data: times,
        axisLabel: { ...label, show: gridIndex === 1 },
        axisLine: line,
        axisTick: { show: false },
      })),
      yAxis: [0, 1].map((gridIndex) => ({
        type: 'value' as const,
        gridIndex,
        scale: gridIndex === 0,
        splitNumber: gridIndex === 0 ? 4 : 1,
        splitLine: line,
        axisLabel: { ...label, formatter: (value: number) => inUnit(value) },
      })),
      series: [
        {
          type: 'candlestick',
          itemStyle: color,
          barMaxWidth: 14,
          data: rows.map(([, open, high, low, close]) => [open, close, low, high].map((price) => price as number)),
        },
        {
          type: 'bar',
          xAxisIndex: 1,
          yAxisIndex: 1,
          barMaxWidth: 14,
          itemStyle: { color: COLORS[1] ?? '', opacity: 0.7 },
          data: rows.map((row) => row[5] as number),
        },
      ],
    },
    range,
  );
}

/** Bars that lie, the longest on top; rows of a name and a number. */
export function barChart({ rows }: Table, size: Size & { unit?: string | undefined }): string {
  const shown = rows.toSorted((a, b) => Number(a[1]) - Number(b[1]));
  return render(
    {
      grid: { left: 8, right: 50, top: 6, bottom: 6, containLabel: true },
      xAxis: { type: 'value', show: false },
      yAxis: {
        type: 'category',
        data: shown.map(([name]) => String(name)),
        axisLabel: { color: '#ccccdc', fontSize: 11 },
        axisLine: { show: false },
        axisTick: { show: false },
      },
      series: [
        {
          type: 'bar',
          data: shown.map((row) => Number(row[1])),
          barWidth: '65%',
          label: {
            show: true,
            position: 'right',
            color: FAINT,
            fontSize: 10,
            formatter: ({ value }) => inUnit(Number(value), size.unit),
          },
        },
      ],
    },
    size,
  );
}

/** A line without axes behind a number. */
export const sparkline = ({ points }: Series, color: string, size: Size): string =>
  render(
    {
      grid: { left: 0, right: 0, top: 4, bottom: 0 },
      xAxis: { type: 'time', show: false, min: 'dataMin', max: 'dataMax' },
      yAxis: { type: 'value', show: false, scale: true },
      series: [
        {
          type: 'line',
          data: points,
          showSymbol: false,
          lineStyle: { width: 1, color },
          areaStyle: { opacity: 0.15, color },
        },
      ],
    },
    size,
  );
