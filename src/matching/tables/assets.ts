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
  ndx|nasdaq 100|nasdaq100|nasdaq
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

/** Sources of prices as rules name them, most telling first: `source|words`. */
const SOURCES = `twap|twap|time weighted average
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

/** The source of a price that a folded text names; null if it names none. */
export function priceSourceIn(folded: string): string | null {
  for (const line of SOURCES.split('\n')) {
    const [source = '', ...phrases] = line.trim().split('|');
    if (phrases.some((phrase) => ` ${folded} `.includes(` ${phrase} `))) return source;
  }
  return null;
}
