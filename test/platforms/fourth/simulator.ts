import { createSimServer, json } from '../../simulators/lib/server.ts';

interface Fill {
  id: string;
  slug: string;
  side: 'buy' | 'sell';
  price: string;
  shares: string;
  at: string;
}

const time = (ms: number): string => new Date(ms).toISOString();

/** Two markets of the fourth platform, one of them traded three times an hour ago, and a row that cannot be read. */
export async function startFourth() {
  const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000 - 3_600_000;
  const about = { state: 'trading', topic: 'Weather', opened_at: time(hour - 86_400_000), ends_at: time(hour + 9e8) };
  const markets = [
    { ...about, slug: 'rain', question: 'Will it rain?', price: '0.4', bid: '0.39', ask: '0.41', volume_usd: '11' },
    { ...about, slug: 'snow', question: 'Will it snow?', price: null, bid: null, ask: null, volume_usd: '0' },
    { ...about, slug: 'hail', question: 'Will it hail?', price: 'high', bid: null, ask: null, volume_usd: '0' },
  ];
  const fill = (n: number, side: Fill['side'], price: string, shares: string): Fill => ({
    id: `fill-${n}`,
    slug: 'rain',
    side,
    price,
    shares,
    at: time(hour + n * 60_000).replace('Z', '000Z'),
  });
  const fills = [fill(1, 'buy', '0.5', '10'), fill(2, 'sell', '0.3', '10'), fill(3, 'buy', '0.4', '7.5')];
  const server = await createSimServer({
    handle({ path }) {
      const [, list, slug] = path.split('/');
      const market = markets.find((one) => one.slug === slug);
      if (list === 'markets' && slug === undefined) return json(200, { items: markets });
      if (list === 'markets' && market) return json(200, market);
      if (list === 'trades') return json(200, { items: fills.toReversed() });
      if (list === 'book' && market)
        return json(200, slug === 'rain' ? { bids: [['0.39', '5']], asks: [['0.41', '6']] } : { bids: [], asks: [] });
      return json(404, { error: 'not found' });
    },
  });
  return { ...server, env: { FOURTH_API_URL: server.origin }, hourTs: hour / 1000, fills };
}
