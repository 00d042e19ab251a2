/** How prices and times are shown: in the address where it differs from the usual, else as last chosen in this browser. */
export const PRICES = [
  ['usd', '0.94'],
  ['cents', '94 ¢'],
  ['percent', '94 %'],
] as const;
export const TIMES = [
  ['utc', 'UTC'],
  ['local', 'Local time'],
] as const;
interface Prefs {
  prices: (typeof PRICES)[number][0];
  times: (typeof TIMES)[number][0];
}

const USUAL: Prefs = { prices: 'usd', times: 'utc' };
const KEPT = 'explorer-prefs';
export const PREFS_CHANGED = 'explorer:prefs';

function read(): Prefs {
  const query = new URLSearchParams(location.search);
  let kept: Partial<Record<string, unknown>> = {};
  try {
    kept = (JSON.parse(localStorage.getItem(KEPT) ?? '{}') ?? {}) as typeof kept;
  } catch {
    // Storage is blocked, or holds something else.
  }
  const chosen = <T extends string>(name: keyof Prefs, options: readonly (readonly [T, string])[], usual: T): T =>
    [query.get(name), kept[name]].flatMap((value) => options.find(([option]) => option === value)?.[0] ?? [])[0] ??
    usual;
  return { prices: chosen('prices', PRICES, USUAL.prices), times: chosen('times', TIMES, USUAL.times) };
}

let current: Prefs | null = null;
export const prefs = (): Prefs => (current ??= read());

/** An address with the preferences that differ from the usual. */
export function withPrefs(address: string): string {
  const url = new URL(address, location.origin);
  for (const name of ['prices', 'times'] as const) {
    if (prefs()[name] === USUAL[name]) url.searchParams.delete(name);
    else url.searchParams.set(name, prefs()[name]);
  }
  return url.search === new URL(address, location.origin).search ? address : url.pathname + url.search + url.hash;
}

/** Changes a preference, here and for later visits; the page is drawn again. */
export function choosePrefs(change: Partial<Prefs>): void {
  current = { ...prefs(), ...change };
  try {
    localStorage.setItem(KEPT, JSON.stringify(current));
  } catch {
    // Storage is blocked or full: the choice holds until the page is loaded again.
  }
  history.replaceState(history.state, '', withPrefs(location.pathname + location.search + location.hash));
  dispatchEvent(new Event(PREFS_CHANGED));
}

/** For formats of times: UTC, or undefined for the zone of the browser. */
export const zone = (): { timeZone?: 'UTC' } => (prefs().times === 'utc' ? { timeZone: 'UTC' } : {});
/** The name of the zone, shown beside times. */
export const zoneName = (): string => (prefs().times === 'utc' ? 'UTC' : 'local');
