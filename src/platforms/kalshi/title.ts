/** What a market's row says of its name: `title` is the question, `yes_sub_title` the name within its event. */
interface NamedMarket {
  ticker: string;
  title: string;
  yes_sub_title: string;
}

/** What the markets of an event have in common; empty while an event's other markets are not known. */
export interface SharedNames {
  /** Names that the title of another market contains. */
  rivals: readonly string[];
  /** Tickers of markets whose title with their name is that of another market too. */
  twins: readonly string[];
}

export const NOTHING_SHARED: SharedNames = { rivals: [], twins: [] };

const withoutBold = (text: string): string => text.replaceAll('**', '').trim();
/** Case, accents and runs of spaces do not distinguish names. */
const fold = (text: string): string =>
  withoutBold(text)
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/\s+/g, ' ')
    .toLowerCase();

/** "2" is part of "2026" and "2.5", "Wis" of "Wisconsin", "York" of "York-Hill"; "Trump" is not part of "Trump's". */
const STARTS_WITHIN = /[\p{L}\p{N}_]$|[\p{L}\p{N}][-–&.,:/'’+]$/u;
const ENDS_WITHIN = /^[\p{L}\p{N}_]|^[-–&.,:/+][\p{L}\p{N}]|^['’](?!s\b)\p{L}/u;

/** Where a folded text has a folded name as whole words. */
function mentions(text: string, name: string): number[] {
  const found: number[] = [];
  if (name === '') return found;
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    const end = at + name.length;
    const isWhole = !STARTS_WITHIN.test(text.slice(Math.max(0, at - 2), at)) && !ENDS_WITHIN.test(text.slice(end));
    if (isWhole) found.push(at);
  }
  return found;
}

/** Stands for the market's own name in a title. */
const OWN = '\0';
/** Stands for the title of an event. */
const OF_EVENT = '\0';
/** A title that joins the market's own name to another: "A at B", "A vs B", "A, B or C". */
const JOINED = new RegExp(
  String.raw` (?:vs?\.?|versus|@) |${OWN} at (?!least|most|home|\d)|at ${OWN}|${OWN} (?:or|and|against|x) |(?:or|and|against|x) ${OWN}|${OWN}, \S.* (?:or|and) |${OWN} ?/|/ ?${OWN}`,
);

/** Whether a title identifies the market by itself: it has the market's name, and no other name. */
function identifies(title: string, name: string, rivals: readonly string[]): boolean {
  const [text, own] = [fold(title), fold(name)];
  const places = mentions(text, own);
  if (places.length === 0) return false;
  const rest = places.reduceRight((left, at) => left.slice(0, at) + OWN + left.slice(at + own.length), text);
  if (JOINED.test(rest)) return false;
  // A rival's longer name contains the market's own.
  return !rivals.some((rival) => rival !== own && mentions(rival.includes(own) ? text : rest, rival).length > 0);
}

/** What the markets of one event have in common. */
export function sharedNames(markets: readonly NamedMarket[]): SharedNames {
  const byTitle = new Map<string, Set<string>>();
  for (const { title, yes_sub_title } of markets)
    byTitle.set(fold(title), (byTitle.get(fold(title)) ?? new Set()).add(fold(yes_sub_title)));
  const isRival = (name: string): boolean =>
    [...byTitle].some(([title, names]) => (names.size > 1 || !names.has(name)) && mentions(title, name).length > 0);
  const rivals = [...new Set(markets.map((market) => fold(market.yes_sub_title)))].filter(isRival);
  const shown = new Map(
    markets.map((market) => [market.ticker, fold(kalshiTitle(market, OF_EVENT, { rivals, twins: [] }))]),
  );
  const seen = new Map<string, number>();
  for (const title of shown.values()) seen.set(title, (seen.get(title) ?? 0) + 1);
  return { rivals, twins: [...shown].flatMap(([ticker, title]) => ((seen.get(title) ?? 0) > 1 ? ticker : [])) };
}

const lastPart = (ticker: string): string => ticker.slice(ticker.lastIndexOf('-') + 1);
/** What distinguishes a ticker from its twins: its last part, or all of it where a twin has the same. */
function code(ticker: string, twins: readonly string[]): string {
  const last = lastPart(ticker);
  return twins.some((twin) => twin !== ticker && lastPart(twin) === last) ? ticker : last;
}

/**
 * A title that is unique in its event. The market's name is appended unless the title already has it, as whole words, and has no other
 * name. A market without a title takes that of its event.
 */
export function kalshiTitle(market: NamedMarket, eventTitle: string, { rivals, twins }: SharedNames): string {
  const name = withoutBold(market.yes_sub_title);
  const own = withoutBold(market.title);
  const base = own || withoutBold(eventTitle);
  const isNamed = own === '' ? fold(name) === fold(base) : identifies(own, name, rivals);
  const added = [
    name === '' || isNamed ? '' : name,
    twins.includes(market.ticker) ? code(market.ticker, twins) : '',
  ].filter(Boolean);
  if (base === '') return added.join(', ') || market.ticker;
  return added.length > 0 ? `${base} (${added.join(', ')})` : base;
}
