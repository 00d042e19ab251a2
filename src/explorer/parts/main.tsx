import { Fragment, render, type ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { MarketsPage } from '../markets/page.tsx';
import { useConnection, type Connection } from './connection.ts';
import { useFocusOnHeading } from './focus.ts';
import { PrefsMenu, usePrefsKey } from './prefs/menu.tsx';
import { SignedIn } from './session.tsx';
import { chooseTheme, onTheme, theme } from './theme/theme.ts';
import { followLinks, isPage, usePlace } from './url.ts';

type Page = ComponentType<{ id: string }>;

/** Pages by the first segment of their path; each is a chunk that is loaded when the page is opened. */
const PAGES: Record<string, { title: string; load: () => Promise<Page> }> = {
  market: { title: 'Market', load: async () => (await import('../market/page.tsx')).MarketPage },
  event: { title: 'Event', load: async () => (await import('../event/page.tsx')).EventPage },
  events: { title: 'Events', load: async () => (await import('../events/page.tsx')).EventsPage },
  wallet: { title: 'Wallet', load: async () => (await import('../wallet/page.tsx')).WalletPage },
  overview: { title: 'Overview', load: async () => (await import('../overview/page.tsx')).OverviewPage },
  sql: { title: 'SQL', load: async () => (await import('../sql/page.tsx')).SqlPage },
  status: { title: 'Status', load: async () => (await import('../status/page.tsx')).StatusPage },
  account: { title: 'Account', load: async () => (await import('../account/page.tsx')).AccountPage },
};
const LINKS = [
  ['/', 'Markets'],
  ['/events', 'Events'],
  ['/overview', 'Overview'],
  ['/sql', 'SQL'],
  ['/status', 'Status'],
  ['/account', 'Account'],
] as const;
const SAID: Record<Connection, string> = {
  live: 'Live',
  connecting: 'Connecting …',
  polling: 'Every 5 s',
  idle: 'Online',
  stale: 'Not refreshed',
  offline: 'Offline',
};
const MEANT: Record<Connection, string> = {
  live: 'Changes arrive through the stream',
  connecting: 'The stream is being opened',
  polling: 'The stream is not open: this page polls every 5 seconds',
  idle: 'The service answers; this page needs no stream',
  stale: 'A part of this page could not be refreshed and shows the last data received',
  offline: 'The service does not respond; showing the last data received',
};

function App() {
  const { path } = usePlace();
  const [, first = '', id = ''] = path.split('/');
  const exists = isPage(path);
  const connection = useConnection();
  const usedPrefs = usePrefsKey();
  const [shade, setShade] = useState(theme);
  useEffect(() => {
    const title = first === '' ? 'Markets' : PAGES[first]?.title;
    document.title = `${(exists && title) || 'Page not found'} · Forecastle`;
  }, [first, exists]);
  useFocusOnHeading(path);
  useEffect(() => onTheme(() => setShade(theme())), []);
  const turn = (): void => chooseTheme(shade === 'dark' ? 'light' : 'dark');
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href="/">
          Forecastle
        </a>
        <nav aria-label="Pages">
          {LINKS.map(([to, name]) => (
            <a key={to} href={to} {...(path === to ? { 'aria-current': 'page' as const } : {})}>
              {name}
            </a>
          ))}
          <a href="/docs">API</a>
        </nav>
        <span class={`connection ${connection}`} role="status" title={MEANT[connection]}>
          {SAID[connection]}
        </span>
        <PrefsMenu />
        <button
          type="button"
          class="quiet"
          onClick={turn}
          aria-label={`Use ${shade === 'dark' ? 'light' : 'dark'} colours`}
        >
          {shade === 'dark' ? '☀' : '☾'}
        </button>
      </header>
      <main id="main" tabIndex={-1}>
        {exists ? (
          <SignedIn>
            <Fragment key={usedPrefs}>
              {first === '' ? <MarketsPage /> : <Loaded name={first} id={safeDecode(id)} />}
            </Fragment>
          </SignedIn>
        ) : (
          <NotFound path={path} />
        )}
      </main>
    </>
  );
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function Loaded({ name, id }: { name: string; id: string }) {
  const [page, setPage] = useState<{ name: string; Page: Page } | null>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    // A chunk of an earlier page may arrive, or fail, after that of the current one.
    let isCurrent = true;
    setFailed(false);
    PAGES[name]?.load().then(
      (Page) => isCurrent && setPage({ name, Page }),
      () => isCurrent && setFailed(true),
    );
    return () => {
      isCurrent = false;
    };
  }, [name]);
  if (failed) return <p class="notice failed">Failed to load this page. Reload to retry.</p>;
  return page?.name === name ? <page.Page key={id} id={id} /> : <p class="notice muted">Loading …</p>;
}

const NotFound = ({ path }: { path: string }) => (
  <section class="panel panel-body missing">
    <h1>Page not found</h1>
    <p>
      There is no page at <bdi>{safeDecode(path)}</bdi>.
    </p>
    <p>
      <a href="/">Search the list of markets</a>
    </p>
  </section>
);

followLinks();
const root = document.querySelector('#app');
if (root) {
  root.replaceChildren();
  render(<App />, root);
}
