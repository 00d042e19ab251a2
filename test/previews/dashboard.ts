import { type Dashboard, type Panel, type Target, type View, expand } from '../helpers/dashboards.ts';
import { barChart, candleChart, COLORS, sparkline, timeChart } from './charts.ts';
import { promSeries, sqlTable, type Series, type Sources, statementOf, toSeries } from './data.ts';
import { type Box, boxOf, drawStats, drawTable, frame, nothing, TITLE_PX, type Stat } from './frame.ts';

const SPARK_PX = 26;

/** Space of a chart inside its panel. */
const inner = ({ width, height }: Box) => ({ width: width - 8, height: height - TITLE_PX - 6 });
const placed = (svg: string, y = TITLE_PX): string => svg.replace('<svg ', `<svg x="4" y="${y}" `);

/** As Grafana opens it: every value of a variable that takes several, the first of the others; also what each is called. */
export async function openView(dashboard: Dashboard, range: Omit<View, 'values'>, sources: Sources) {
  const view: View = { ...range, values: {} };
  const names: Record<string, string> = {};
  for (const { name, type, query, multi } of dashboard.templating.list) {
    if (type === 'textbox') view.values[name] = [''];
    else if (typeof query === 'string') view.values[name] = query.split(',').slice(0, 1);
    else {
      const { columns, rows } = await sqlTable(sources, expand(query.rawSql, view));
      const valueAt = Math.max(0, columns.indexOf('__value'));
      const textAt = Math.max(0, columns.indexOf('__text'));
      const values = rows.map((row) => String(row[valueAt]));
      view.values[name] = multi ? values : values.slice(0, 1);
      names[name] = String(rows[0]?.[textAt] ?? '');
    }
  }
  return { view, names };
}

/** A dashboard drawn from the data its panels' own queries give. */
export async function drawDashboard(
  dashboard: Dashboard,
  range: Omit<View, 'values'>,
  sources: Sources,
): Promise<string> {
  const { view, names } = await openView(dashboard, range, sources);
  const panels = [];
  for (const panel of dashboard.panels) {
    const box = boxOf(panel);
    const title = panel.title.replaceAll(/\$(\w+)/g, (whole, name: string) => names[name] ?? whole);
    panels.push({ box, title, drawing: await drawPanel(panel, box, view, sources) });
  }
  return frame(panels);
}

async function drawPanel(panel: Panel, box: Box, view: View, sources: Sources): Promise<string> {
  const [target] = panel.targets;
  if (!target) return nothing(box, 'No query');
  return target.rawSql === undefined
    ? fromPrometheus(panel, box, view, sources)
    : fromSql(panel, target, box, view, sources);
}

async function fromSql(panel: Panel, target: Target, box: Box, view: View, sources: Sources): Promise<string> {
  const table = await sqlTable(sources, statementOf(target, view));
  if (table.rows.length === 0) return nothing(box, 'No data');
  if (panel.type === 'table') return drawTable(panel, box, table);
  if (panel.type === 'candlestick') return placed(candleChart(table, { ...view, ...inner(box) }));
  if (panel.type === 'barchart') return placed(barChart(table, { ...inner(box), unit: unitOf(panel) }));
  if (panel.type === 'timeseries') return drawTimes(panel, toSeries(table), box, view);
  const stats = table.rows.flatMap((row): Stat[] => {
    const label = row.find((value) => typeof value === 'string');
    return row.flatMap((value, i) =>
      typeof value === 'string'
        ? []
        : [{ name: String(label ?? table.columns[i]), value: typeof value === 'number' ? value : null }],
    );
  });
  return drawStats(panel, box, stats);
}

async function fromPrometheus(panel: Panel, box: Box, view: View, sources: Sources): Promise<string> {
  if (sources.prometheusUrl === undefined) return nothing(box, 'Asks Prometheus, which is not here');
  const found = await Promise.all(panel.targets.map((target) => promSeries(sources, target, view)));
  const series = found.flat();
  if (series.length === 0) return nothing(box, 'No data');
  if (panel.type !== 'stat') return drawTimes(panel, series, box, view);
  const size = { width: box.width - 8, height: SPARK_PX };
  return drawStats(
    panel,
    box,
    series.map((one): Stat => {
      const line =
        panel.options?.graphMode === 'area'
          ? placed(sparkline(one, COLORS[0] ?? '', size), box.height - SPARK_PX - 4)
          : '';
      return { name: one.name, value: one.points.findLast(([, value]) => value !== null)?.[1] ?? null, line };
    }),
  );
}

const unitOf = (panel: Panel): string | undefined => panel.fieldConfig.defaults.unit;

function drawTimes(panel: Panel, series: Series[], box: Box, { from, to, intervalSeconds }: View): string {
  const bars = panel.fieldConfig.defaults.custom?.drawStyle === 'bars';
  return placed(timeChart(series, { ...inner(box), from, to, intervalSeconds, unit: unitOf(panel), bars }));
}
