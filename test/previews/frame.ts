import type { Panel } from '../helpers/dashboards.ts';
import { COLORS, FAINT } from './charts.ts';
import type { Cell, Table } from './data.ts';
import { inUnit } from './units.ts';

/** Pixels of a column and a row of Grafana's grid of 24 columns. */
const COLUMN = 50;
const ROW = 30;
const GAP = 4;
export const TITLE_PX = 30;
const TABLE_ROW_PX = 22;
/** Width of a letter at 11 px, on average, and space beside a cell. */
const LETTER_PX = 6;
const CELL_PX = 16;

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export const boxOf = ({ gridPos: { x, y, w, h } }: Panel): Box => ({
  x: x * COLUMN + GAP,
  y: y * ROW + GAP,
  width: w * COLUMN - 2 * GAP,
  height: h * ROW - 2 * GAP,
});

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

interface TextStyle {
  size?: number;
  color?: string;
  anchor?: 'start' | 'middle' | 'end';
  bold?: boolean;
}

export function text(x: number, y: number, words: string, style: TextStyle = {}): string {
  const { size = 11, color = '#ccccdc', anchor = 'start', bold = false } = style;
  const weight = bold ? ' font-weight="600"' : '';
  return `<text x="${Math.round(x)}" y="${Math.round(y)}" font-size="${size}" fill="${color}" text-anchor="${anchor}"${weight}>${escape(words)}</text>`;
}

const fit = (words: string, px: number): string => {
  const letters = Math.max(1, Math.floor(px / LETTER_PX));
  return words.length <= letters ? words : `${words.slice(0, letters - 1)}…`;
};

/** The panels of a dashboard, each drawn in a box of its own, as one image. */
export function frame(panels: { box: Box; title: string; drawing: string }[]): string {
  const width = 24 * COLUMN;
  const height = Math.max(...panels.map(({ box }) => box.y + box.height)) + GAP;
  const drawn = panels.map(
    ({ box, title, drawing }) =>
      `<g transform="translate(${box.x} ${box.y})"><rect width="${box.width}" height="${box.height}" rx="3" fill="#181b1f" stroke="#2a2d33"/>${text(10, 20, title, { size: 13, bold: true })}${drawing}</g>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif"><rect width="${width}" height="${height}" fill="#111217"/>\n${drawn.join('\n')}\n</svg>\n`;
}

export interface Stat {
  name: string;
  value: number | null;
  /** An <svg> that lies behind it. */
  line?: string;
}

const paint = (panel: Panel, value: number | null, index: number): string => {
  const { color, thresholds } = panel.fieldConfig.defaults;
  if (color?.mode !== 'thresholds') return COLORS[index % COLORS.length] ?? '';
  const reached = (thresholds?.steps ?? []).findLast((step) => step.value === null || (value ?? 0) >= step.value);
  return { green: '#73bf69', orange: '#ff9830', red: '#f2495c' }[reached?.color ?? ''] ?? FAINT;
};

/** Numbers side by side, each under its name. */
export function drawStats(panel: Panel, box: Box, stats: readonly Stat[]): string {
  const width = box.width / stats.length;
  const filled = panel.options?.colorMode === 'background';
  return stats
    .map(({ name, value, line = '' }, i) => {
      const words = inUnit(value, panel.fieldConfig.defaults.unit);
      const middle = (i + 0.5) * width;
      const color = paint(panel, value, i);
      const size = Math.min(
        34,
        (width - 16) / (words.length * 0.6),
        (box.height - TITLE_PX) * (line === '' ? 0.42 : 0.3),
      );
      const back = filled
        ? `<rect x="${Math.round(i * width + 4)}" y="${TITLE_PX}" width="${Math.round(width - 8)}" height="${box.height - TITLE_PX - 6}" rx="3" fill="${color}" opacity="0.85"/>`
        : '';
      const ink = filled ? '#fff' : color;
      const under = Math.round(TITLE_PX + (box.height - TITLE_PX) * (line === '' ? 0.34 : 0.16));
      return [
        back,
        line,
        text(middle, under, fit(name, width - 8), { size: 12, anchor: 'middle', color: filled ? '#fff' : '#ccccdc' }),
        text(middle, under + size + 4, words, { size: Math.round(size), anchor: 'middle', color: ink, bold: true }),
      ].join('');
    })
    .join('');
}

const shown = (value: Cell, unit?: string): string => {
  if (value === null) return '';
  if (value instanceof Date) return value.toISOString().slice(5, 19).replace('T', ' ');
  return typeof value === 'number' ? inNumber(value, unit) : String(value);
};
const inNumber = (value: number, unit?: string): string => {
  if (unit !== undefined) return inUnit(value, unit);
  return Number(value.toFixed(4)).toLocaleString('en-US', { maximumFractionDigits: 4 });
};

/** Widths that fill `px`: what is too much is taken from the widest, what is left over is shared. */
function fitColumns(natural: readonly number[], px: number): number[] {
  const sum = natural.reduce((total, width) => total + width, 0);
  if (sum <= px) return natural.map((width) => (width / sum) * px);
  const widest = Math.max(...natural);
  const next = Math.max(0, ...natural.filter((width) => width < widest));
  const many = natural.filter((width) => width === widest).length;
  const cut = Math.min((sum - px) / many, Math.max(widest - next, 1));
  return fitColumns(
    natural.map((width) => (width === widest ? width - cut : width)),
    px,
  );
}

/** As many rows of a table as the panel shows. */
export function drawTable(panel: Panel, box: Box, { columns, rows }: Table): string {
  const units = columns.map(
    (name) =>
      panel.fieldConfig.overrides
        ?.find(({ matcher }) => matcher.options === name)
        ?.properties.find(({ id }) => id === 'unit')?.value,
  );
  const visible = rows.slice(0, Math.floor((box.height - TITLE_PX - TABLE_ROW_PX - 8) / TABLE_ROW_PX));
  const cells = visible.map((row) => row.map((value, i) => shown(value, units[i])));
  const natural = columns.map(
    (name, i) => Math.max(name.length, ...cells.map((row) => row[i]?.length ?? 0)) * LETTER_PX + CELL_PX,
  );
  const widths = fitColumns(natural, box.width - 16);
  const lefts = widths.map((_, i) => 8 + widths.slice(0, i).reduce((sum, width) => sum + width, 0));
  const right = columns.map((_, i) => visible.some((row) => typeof row[i] === 'number'));
  const line = (words: readonly string[], y: number, color: string, bold: boolean): string =>
    words
      .map((word, i) => {
        const [left = 0, width = 0] = [lefts[i], widths[i]];
        const anchor = right[i] ? ('end' as const) : ('start' as const);
        return text(right[i] ? left + width - 10 : left + 4, y, fit(word, width - 8), { color, bold, anchor });
      })
      .join('');
  const head = line(columns, TITLE_PX + 14, '#6e9fff', true);
  const body = cells.map((row, i) => {
    const top = TITLE_PX + (i + 1) * TABLE_ROW_PX;
    return `<path d="M8 ${top}H${box.width - 8}" stroke="#2a2d33"/>${line(row, top + 15, '#ccccdc', false)}`;
  });
  return head + body.join('');
}

/** What stands in a panel that has nothing to draw. */
export const nothing = (box: Box, why: string): string =>
  text(box.width / 2, box.height / 2 + 8, why, { size: 12, color: FAINT, anchor: 'middle' });
