import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import { addressOf, type Loaded, type Params } from './api.ts';
import { titled } from './names.ts';
import { Time } from './show.tsx';

/** How to request the data of a panel: the API call, and the SQL statement over the views. */
interface Query {
  path: string;
  /** One entry per call if the panel combines several. */
  params: Params | readonly Params[];
  sql?: string;
}

/** A SQL string literal. */
export const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
/** A SQL condition for rows of one market, by its unified id. */
export const ofMarket = (id: string): string =>
  `market_key = (SELECT market_key FROM v_markets WHERE id = ${quoted(id)})`;

interface PanelProps {
  title: string;
  query?: Query;
  /** The request behind the panel: a failed refresh is shown beside the title. */
  of?: Pick<Loaded<unknown>, 'failure' | 'at'>;
  aside?: ComponentChildren;
  class?: string;
  children: ComponentChildren;
}

/** A titled section of a page, with the query behind its figures. */
export function Panel({ title, query, of, aside, class: name = '', children }: PanelProps) {
  const id = useId();
  return (
    <section class={`panel ${name}`} aria-labelledby={id}>
      <header class="panel-head">
        <h2 id={id}>{title}</h2>
        <div class="panel-aside">
          {of?.failure && of.at !== undefined && <Stale at={of.at} why={of.failure.message} />}
          {aside}
          {query && <QueryButton query={query} title={title} />}
        </div>
      </header>
      {children}
    </section>
  );
}

/** Shows since when a panel has not been refreshed. */
function Stale({ at, why }: { at: number; why: string }) {
  return (
    <span class="stale" role="status" title={why}>
      Not refreshed since <Time at={at / 1000} />
    </span>
  );
}

const curlOf = ({ path, params }: Query): string =>
  [params]
    .flat()
    .map((one: Params) => `curl -H "X-API-Key: $KEY" '${location.origin}${addressOf(path, one)}'`)
    .join('\n');

function QueryButton({ query, title }: { query: Query; title: string }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  return (
    <>
      <button type="button" class="quiet" onClick={() => dialog.current?.showModal()} title="Show the query">
        Query<span class="hidden"> for {title}</span>
      </button>
      <dialog ref={dialog} aria-labelledby={id} class="query">
        <header class="panel-head">
          <h2 id={id}>The query for “{title}”</h2>
          <form method="dialog">
            <button class="quiet">Close</button>
          </form>
        </header>
        <h3>curl</h3>
        <Copyable text={curlOf(query)} />
        {query.sql && (
          <>
            <h3>SQL</h3>
            <Copyable text={query.sql} />
            <p>
              <a href={`/sql?q=${encodeURIComponent(query.sql)}`} onClick={() => dialog.current?.close()}>
                Open in the SQL page
              </a>
            </p>
          </>
        )}
      </dialog>
    </>
  );
}

/** A text with a button that copies it. */
export function Copyable({ text, label = 'Copy' }: { text: string; label?: string }) {
  const shown = useRef<HTMLPreElement>(null);
  const [done, setDone] = useState('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setDone('Copied');
    } catch {
      // Browsers provide the clipboard only on HTTPS and localhost, and may deny access.
      if (shown.current) getSelection()?.selectAllChildren(shown.current);
      setDone('Selected: press Ctrl C');
    }
    setTimeout(() => setDone(''), 3000);
  };
  return (
    <div class="copyable">
      <pre tabIndex={0} ref={shown}>
        {text}
      </pre>
      <button type="button" onClick={() => void copy()}>
        {done === '' ? label : done}
      </button>
    </div>
  );
}

/** Content of a panel while it loads, after a failure, or without data. */
export function Waiting({
  of,
  empty,
}: {
  of: Pick<Loaded<unknown>, 'failure' | 'loading' | 'reload'>;
  empty?: string;
}) {
  if (of.failure) {
    return (
      <div class="notice failed" role="alert">
        <p>{of.failure.message}</p>
        {of.failure.resolution !== '' && <p class="muted">{of.failure.resolution}</p>}
        <button type="button" onClick={of.reload}>
          Try again
        </button>
      </div>
    );
  }
  if (of.loading) return <p class="notice muted">Loading …</p>;
  return empty === undefined ? null : <p class="notice muted">{empty}</p>;
}

/** A row of buttons of which one is selected. */
export function Choice<T extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: T;
  options: readonly (readonly [value: T, text: string])[];
  onChange: (value: T) => void;
}) {
  return (
    <div class="choice" role="group" aria-label={label}>
      {options.map(([option, text]) => (
        <button type="button" key={option} aria-pressed={option === value} onClick={() => onChange(option)}>
          {text}
        </button>
      ))}
    </div>
  );
}

interface PlatformChoiceProps {
  platforms: readonly string[];
  /** '' for all. */
  value: string;
  onChange: (value: string) => void;
}

/** One platform, or all. */
export const PlatformChoice = ({ platforms, ...chosen }: PlatformChoiceProps) => (
  <Choice
    label="Platform"
    {...chosen}
    options={[['', 'All'], ...platforms.map((name) => [name, titled(name)] as const)]}
  />
);
