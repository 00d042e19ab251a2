import { useEffect, useState } from 'preact/hooks';
import { withPrefs } from './prefs/prefs.ts';
import { isWithinPage } from './within-page.ts';

/** The current location. State that should be shareable as a link is kept in the query. */
interface Place {
  path: string;
  query: URLSearchParams;
}

const MOVED = 'explorer:moved';
const here = (): Place => ({ path: location.pathname, query: new URLSearchParams(location.search) });

/** The current place; the component re-renders when it changes. */
export function usePlace(): Place {
  const [place, setPlace] = useState(here);
  useEffect(() => {
    const moved = (): void => setPlace(here());
    addEventListener('popstate', moved);
    addEventListener(MOVED, moved);
    return () => {
      removeEventListener('popstate', moved);
      removeEventListener(MOVED, moved);
    };
  }, []);
  return place;
}

const LIST = '/';
/** The last address of the list of markets, with its filters. */
let list = LIST;

/** Navigates to an address of this site without loading a document. */
export function go(address: string, how: 'push' | 'replace' = 'push'): void {
  const from = location.pathname + location.search;
  if (location.pathname === LIST) list = from;
  if (how === 'push') history.pushState({ from }, '', withPrefs(address));
  else history.replaceState(history.state, '', withPrefs(address));
  dispatchEvent(new Event(MOVED));
  if (how === 'push') scrollTo(0, 0);
}

/** Returns to the list of markets with its last filters: one step back in history if the user came from there. */
export function backToList(): void {
  const { from = '' } = (history.state ?? {}) as { from?: string };
  if (from === LIST || from.startsWith(`${LIST}?`)) history.back();
  else go(list);
}

/** Changes parameters of the current query; '' removes one. */
export function setQuery(changes: Record<string, string>): void {
  const { path, query } = here();
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  go(text === '' ? path : `${path}?${text}`, 'replace');
}

/** Follows links of this site without loading a document; clicks that open a new tab are left to the browser. */
export function followLinks(): void {
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = (event.target as Element).closest('a');
    if (!link || link.target !== '' || link.hasAttribute('download') || link.origin !== location.origin) return;
    if (!isPage(link.pathname) || isWithinPage(link, location)) return;
    event.preventDefault();
    go(link.pathname + link.search + link.hash);
  });
}

/** Whether a page has this path; serve.ts serves the same paths. */
export const isPage = (path: string): boolean =>
  /^\/($|(market|event)\/[^/]*(:|%3a)[^/]*$|events$|wallet\/0x[0-9a-f]{40}$|overview$|sql$|status$|account$)/i.test(
    path,
  );

/** Addresses of pages; `id` is the unified id, `<platform>:<id>`. */
export const marketAddress = (id: string): string => `/market/${encodeURIComponent(id)}`;
export const eventAddress = (platform: string, eventId: string): string =>
  `/event/${encodeURIComponent(`${platform}:${eventId}`)}`;

export const walletAddress = (address: string): string => `/wallet/${address.toLowerCase()}`;

/** The two parts of a unified id: the platform and the platform's own id. */
export function splitId(unified: string): { platform: string; id: string } {
  const colon = unified.indexOf(':');
  return { platform: unified.slice(0, colon), id: unified.slice(colon + 1) };
}

/** The unified id of a market of a platform. */
export const idOf = (of: { platform: string; market_id: string }): string => `${of.platform}:${of.market_id}`;

/** Groups unified ids by platform, as the platform's own ids. */
export function byPlatform(ids: readonly string[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const unified of ids) {
    const { platform, id } = splitId(unified);
    groups.set(platform, [...(groups.get(platform) ?? []), id]);
  }
  return groups;
}
