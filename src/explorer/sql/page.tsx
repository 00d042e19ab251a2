import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiFailure } from '../parts/api.ts';
import { Panel } from '../parts/panel.tsx';
import { setQuery, usePlace } from '../parts/url.ts';
import type { Column } from './columns.ts';
import { openEditor, type Editor } from './editor.ts';
import { EXAMPLES } from './examples.ts';
import { ResultChart } from './result-chart.tsx';
import { MOST_ROWS, runSql, saveSql, type Result } from './run.ts';

const COLUMNS_OF_VIEWS =
  "SELECT table, name, type, comment FROM system.columns WHERE database = currentDatabase() AND startsWith(table, 'v_') ORDER BY table, position";

/** A SQL editor over the read-only views, with the result as a table, a chart or a file. */
export function SqlPage() {
  const { query } = usePlace();
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | null>(null);
  const [result, setResult] = useState<Result | null>(null);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const [views, setViews] = useState<Views>(new Map());
  const [busy, setBusy] = useState<'' | 'statement' | 'file'>('');
  /** The last request of this page. */
  const latest = useRef(new AbortController());
  const first = query.get('q') ?? EXAMPLES[0]?.[1] ?? '';

  /** Aborts the request before it, whose answer or error must not replace this one's. */
  const attempt = async (kind: 'statement' | 'file', work: (signal: AbortSignal) => Promise<void>): Promise<void> => {
    latest.current.abort();
    const own = new AbortController();
    latest.current = own;
    setBusy(kind);
    setFailure(null);
    try {
      await work(own.signal);
    } catch (error) {
      if (!own.signal.aborted) setFailure(error instanceof ApiFailure ? error : new ApiFailure(0, String(error), ''));
    } finally {
      if (!own.signal.aborted) setBusy('');
    }
  };
  const run = async (): Promise<void> => {
    const statement = editor.current?.text().trim() ?? '';
    // A running statement is replaced, a download is not.
    if (statement === '' || busy === 'file') return;
    await attempt('statement', async (signal) => {
      setQuery({ q: statement });
      // The result of another statement must not stay below the error of this one.
      if (statement !== result?.statement) setResult(null);
      const answer = await runSql(statement, signal);
      if (!signal.aborted) setResult(answer);
    });
  };
  const save = (statement: string, format: 'csv' | 'parquet'): Promise<void> =>
    attempt('file', () => saveSql(statement, format));
  const running = useRef(run);
  running.current = run;

  useEffect(() => {
    if (!host.current) return;
    const opened = openEditor(host.current, first, () => void running.current());
    editor.current = opened;
    runSql(COLUMNS_OF_VIEWS).then(
      ({ rows }) => {
        const found = viewsOf(rows);
        setViews(found);
        opened.know(Object.fromEntries([...found].map(([view, columns]) => [view, columns.map(({ name }) => name)])));
      },
      () => {},
    );
    return () => {
      latest.current.abort();
      opened.close();
    };
  }, []);

  const choose = (name: string): void => {
    const found = EXAMPLES.find(([title]) => title === name);
    if (!found) return;
    editor.current?.replace(found[1]);
    void run();
  };
  return (
    <div class="sql">
      <h1 class="hidden">SQL</h1>
      <Panel
        title="SQL over the views"
        aside={
          <>
            <select
              aria-label="Example queries"
              value=""
              disabled={busy === 'file'}
              onChange={({ currentTarget }) => choose(currentTarget.value)}
            >
              <option value="">Examples …</option>
              {EXAMPLES.map(([name]) => (
                <option key={name}>{name}</option>
              ))}
            </select>
            <button type="button" class="main" disabled={busy !== ''} onClick={() => void run()}>
              {busy === '' ? 'Run' : busy === 'file' ? 'Saving …' : 'Running …'} <kbd>Ctrl ⏎</kbd>
            </button>
          </>
        }
      >
        <div ref={host} class="editor" />
        <p class="foot muted">
          Read only: the views <code>v_…</code>, up to 30 s a query. The page shows {MOST_ROWS.toLocaleString('en-US')}{' '}
          rows, CSV and Parquet hold up to 1,000,000, as on SQL_PORT. CSV has text as it is stored: a spreadsheet may
          run a text that begins with <code>=</code>, <code>+</code>, <code>-</code> or <code>@</code> as a formula.
        </p>
      </Panel>
      {views.size > 0 && <ViewsPanel views={views} />}
      {failure && (
        <div class="panel notice failed" role="alert">
          <pre>{failure.message}</pre>
          <p class="muted">{failure.resolution}</p>
        </div>
      )}
      {result && (
        <>
          <ResultChart result={result} />
          <Panel
            title="Result"
            aside={
              <>
                <span class="muted" role="status">
                  {countOf(result)} in {result.tookMs} ms
                </span>
                {FORMATS.map(([format, name]) => (
                  <button
                    type="button"
                    key={format}
                    disabled={busy !== ''}
                    title="Saves all rows of this result"
                    onClick={() => void save(result.statement, format)}
                  >
                    {name}
                  </button>
                ))}
              </>
            }
          >
            {result.text === undefined ? <ResultTable result={result} /> : <pre class="panel-body">{result.text}</pre>}
          </Panel>
        </>
      )}
    </div>
  );
}

const FORMATS = [
  ['csv', 'CSV'],
  ['parquet', 'Parquet'],
] as const;

function countOf({ rows, text }: Result): string {
  if (text !== undefined) return 'Text';
  const count = `${rows.length.toLocaleString('en-US')} ${rows.length === 1 ? 'row' : 'rows'}`;
  return rows.length < MOST_ROWS ? count : `The first ${count}`;
}

interface ViewColumn extends Column {
  comment: string;
}
type Views = ReadonlyMap<string, readonly ViewColumn[]>;

function viewsOf(rows: readonly unknown[][]): Views {
  const views = new Map<string, ViewColumn[]>();
  for (const [view = '', name, type, comment] of rows.map((row) => row.map(String))) {
    const column = { name: name ?? '', type: type ?? '', comment: comment ?? '' };
    views.set(view, [...(views.get(view) ?? []), column]);
  }
  return views;
}

/** Every view; one that is opened shows its columns. */
function ViewsPanel({ views }: { views: Views }) {
  return (
    <Panel title="Views and columns">
      <div class="panel-body views">
        {[...views].map(([view, columns]) => (
          <details key={view}>
            <summary>
              <code>{view}</code>{' '}
              <span class="muted">{columns.length === 1 ? '1 column' : `${columns.length} columns`}</span>
            </summary>
            <dl>
              {columns.map(({ name, type, comment }) => (
                <div key={name}>
                  <dt>
                    <code>{name}</code>
                  </dt>
                  <dd>
                    {comment} <span class="muted">{type}</span>
                  </dd>
                </div>
              ))}
            </dl>
          </details>
        ))}
      </div>
    </Panel>
  );
}

function ResultTable({ result: { columns, rows } }: { result: Result }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Rows of the result">
      <table class="result">
        <thead>
          <tr>
            {columns.map(({ name, type }) => (
              <th key={name} scope="col" title={type} class={/Int|Float|Decimal/.test(type) ? 'number' : ''}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, n) => (
            <tr key={n}>
              {row.map((cell, at) => (
                <td key={at} class={/Int|Float|Decimal/.test(columns[at]?.type ?? '') ? 'number' : ''}>
                  {cell === null ? <span class="muted">null</span> : <bdi>{textOf(cell)}</bdi>}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === 0 && <p class="notice muted">The statement returned no rows.</p>}
      {rows.length >= MOST_ROWS && (
        <p class="foot muted">There may be more rows; download a file to get all of them.</p>
      )}
    </div>
  );
}

const textOf = (cell: unknown): string => (typeof cell === 'string' ? cell : JSON.stringify(cell));
