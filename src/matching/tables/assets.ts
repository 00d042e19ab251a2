/** Assets with a market price: `symbol|names`, one a line. Add a line. */
const ASSETS = `btc|bitcoin|xbt
  eth|ethereum|ether
  sol|solana
  xrp|ripple
  doge|dogecoin
  bnb|binance coin
  ada|cardano
  ltc|litecoin
  link|chainlink
  avax|avalanche
  hype|hyperliquid
  xmr|monero
  sui
  zec|zcash
  bch|bitcoin cash
  dot|polkadot
  shib|shiba inu
  pepe
  trx|tron
  spx|s&p 500|s p 500|sp500|spy s&p|inx
  ndx|nasdaq 100|nasdaq100
  nasdaq
  ixic|nasdaq composite
  djia|dow jones|dow
  rut|russell 2000
  gold|xau
  silver|xag
  oil|wti|crude oil|wti crude
  brent|brent crude oil|brent crude|brent oil
  nvda|nvidia
  tsla|tesla
  aapl|apple
  msft|microsoft
  amzn|amazon
  googl|google|alphabet|goog
  meta
  pltr|palantir
  coin|coinbase
  mstr|microstrategy
  nflx|netflix
  eurusd|eur usd|eur/usd|euro
  usdjpy|usd jpy|usd/jpy`;

const BY_NAME = new Map(
  ASSETS.split('\n').flatMap((line) => {
    const [symbol = '', ...names] = line.trim().split('|');
    return [symbol, ...names].map((name) => [name, symbol] as const);
  }),
);
/** Longer names first: "bitcoin cash" is not bitcoin. */
const NAMES = [...BY_NAME.keys()].toSorted((a, b) => b.length - a.length);

/** Assets whose prices have two decimals at levels of three digits and more; others, currencies among them, may have finer ones. */
const IN_CENTS = new Set(
  'btc eth spx ndx nasdaq ixic djia rut gold nvda tsla aapl msft amzn googl meta pltr coin mstr nflx'.split(' '),
);
export const isInCents = (asset: string): boolean => IN_CENTS.has(asset);

/** The asset that a folded text (one space between words) names first; null if none. */
export function assetIn(folded: string): string | null {
  const text = ` ${folded} `;
  let best: { at: number; symbol: string } | null = null;
  for (const name of NAMES) {
    const at = text.indexOf(` ${name} `);
    if (at !== -1 && (best === null || at < best.at)) best = { at, symbol: BY_NAME.get(name) ?? name };
  }
  return best?.symbol ?? null;
}

/** A folded text without the names of the asset that it names first. */
export function withoutAsset(folded: string): string {
  const symbol = assetIn(folded);
  let text = ` ${folded} `;
  for (const name of NAMES) if (BY_NAME.get(name) === symbol) text = text.replaceAll(` ${name} `, ' ');
  return text.trim();
}

/** Sources of prices as rules name them, most telling first: `source|words`. */
const SOURCES = `twap|twap|time weighted average
  lbma|lbma
  cme|cme|comex|nymex
  cf-benchmarks|cf benchmarks|real time index|brti|erti
  binance|binance
  coinbase|coinbase exchange|on coinbase|coinbase btc|coinbase eth
  chainlink|chainlink
  pyth|pyth
  coingecko|coingecko
  coinmarketcap|coinmarketcap
  kraken|kraken
  yahoo|yahoo finance
  tradingview|tradingview`;

const PHRASES = SOURCES.split('\n').map((line) => line.trim().split('|'));

/** The source of a price that a folded text names; null if it names none. */
export function priceSourceIn(folded: string): string | null {
  const named = PHRASES.find((phrases) => phrases.slice(1).some((phrase) => ` ${folded} `.includes(` ${phrase} `)));
  return named?.[0] ?? null;
}

/** A folded text without the names of a source. */
export function withoutPriceSource(folded: string, source: string | null): string {
  const phrases = PHRASES.find(([name]) => name === source)?.slice(1) ?? [];
  return phrases.reduce((rest, phrase) => rest.replaceAll(` ${phrase} `, ' '), ` ${folded} `).trim();
}
