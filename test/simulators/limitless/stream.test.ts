import { WebSocketClient } from '@limitless-exchange/sdk';
import { afterEach, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { closeRigs, plain, rig, type Rig, type Row } from './rig.ts';
import { type Client, quiet } from './trading-rig.ts';

const clients: { disconnect(): Promise<void> }[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.disconnect();
  await closeRigs();
});

/** The platform's own client, with what it was sent. */
async function connect({ sim }: Rig) {
  const client = new WebSocketClient({ url: sim.env['LIMITLESS_WS_URL']!, autoReconnect: false });
  clients.push(client);
  const seen: { name: string; payload: Row }[] = [];
  for (const name of ['system', 'orderbookUpdate', 'marketCreated', 'marketResolved', 'error', 'exception'] as const) {
    client.on(name as 'orderbookUpdate', (payload: unknown) => void seen.push({ name, payload: payload as Row }));
  }
  await client.connect();
  const of = (name: string): Row[] => seen.flatMap((one) => (one.name === name ? [one.payload] : []));
  const subscribe = (...marketSlugs: string[]) =>
    client.subscribe('subscribe_market_prices', { marketSlugs }).catch(() => {});
  return { client, of, subscribe };
}

test('the official client is sent each subscribed book whole, and again when it changes, as REST shows it', async () => {
  const on = await rig();
  const market = plain(on.world);
  const { of, subscribe } = await connect(on);
  void subscribe(market.slug);
  await vi.waitFor(() => expect(of('orderbookUpdate')).toHaveLength(1));
  on.world.tradeOn(market.slug, { outcome: 0, side: 'BUY', limitTick: null, want: { shares: 1_000_000n } });
  await vi.waitFor(() => expect(of('orderbookUpdate')).toHaveLength(2));
  const { body } = await on.get(`/markets/${market.slug}/orderbook`);
  const { lastTradePrice: _last, ...shown } = body;
  const [first, second] = of('orderbookUpdate');
  const limits = { maxSpread: Number(shown['maxSpread']), minSize: Number(shown['minSize']) };
  expect(second).toMatchObject({ marketSlug: market.slug, orderbook: { ...shown, ...limits } });
  expect(Number(second?.['version'])).toBeGreaterThan(Number(first?.['version']));
});

test('a subscription replaces the one before, names what it took, and refuses what is over', async () => {
  const on = await rig();
  const [one, other] = on.world.openMarkets();
  const over = [...on.world.markets.values()].find(({ kind, status }) => kind === 'clob' && status === 'RESOLVED')!;
  const { of, subscribe } = await connect(on);
  void subscribe(one!.slug, over.slug, 'no-such-market-1790000000000');
  await vi.waitFor(() => expect(of('system').at(-1)).toMatchObject({ markets: [one!.slug] }));
  void subscribe(other!.slug);
  await vi.waitFor(() => expect(of('system').at(-1)).toMatchObject({ markets: [other!.slug] }));
  const before = of('orderbookUpdate').filter(({ marketSlug }) => marketSlug === one!.slug).length;
  on.world.floor.quote(one!);
  on.world.floor.quote(other!);
  await vi.waitFor(() => expect(of('orderbookUpdate').at(-1)).toMatchObject({ marketSlug: other!.slug }));
  expect(of('orderbookUpdate').filter(({ marketSlug }) => marketSlug === one!.slug)).toHaveLength(before);
  void subscribe(over.slug);
  await vi.waitFor(() => expect(of('error')).toEqual([{ message: 'All requested markets are resolved' }]));
});

test('a listing is announced once and a resolution three times, to those who asked', async () => {
  const on = await rig();
  const { client, of } = await connect(on);
  void client.subscribe('subscribe_market_lifecycle').catch(() => {});
  await vi.waitFor(() => expect(of('system').at(-1)).toEqual({ message: 'Subscribed to market lifecycle events' }));
  const market = on.world.createMarket({ title: 'Will it be announced?' });
  await vi.waitFor(() => expect(of('marketCreated')).toMatchObject([{ slug: market.slug, type: 'CLOB' }]));
  on.world.resolve(market.slug, 1);
  await vi.waitFor(() => expect(of('marketResolved')).toHaveLength(3), { timeout: 5000 });
  expect(new Set(of('marketResolved').map((row) => JSON.stringify(row))).size).toBe(1);
  expect(of('marketResolved')[0]).toMatchObject({ slug: market.slug, winningOutcome: 'NO', winningIndex: 1 });
});

test('a resolution is announced with its own time, before REST shows it', async () => {
  const on = await rig();
  const { client, of } = await connect(on);
  void client.subscribe('subscribe_market_lifecycle').catch(() => {});
  await vi.waitFor(() => expect(of('system').at(-1)).toEqual({ message: 'Subscribed to market lifecycle events' }));
  const market = on.world.createMarket({ title: 'Will it be announced early?' });
  on.world.announce(market.slug, 0);
  await vi.waitFor(() => expect(of('marketResolved')).toHaveLength(3), { timeout: 5000 });
  const resolutionDate = String(of('marketResolved')[0]?.['resolutionDate']);
  expect((await on.get(`/markets/${market.slug}`)).body).toMatchObject({ status: 'FUNDED', winningOutcomeIndex: 0 });
  on.clock.advance(780_000);
  on.world.resolve(market.slug, 0);
  const { body } = await on.get(`/markets/${market.slug}`);
  expect(body).toMatchObject({ status: 'RESOLVED' });
  expect(Date.parse(String(body['updatedAt']))).toBeGreaterThan(Date.parse(resolutionDate));
});

test('only a websocket of engine.io 4 is admitted, and a client that pings is cut off', async () => {
  const { sim } = await rig();
  const statusOf = (path: string): Promise<number> =>
    new Promise((resolve) => {
      const socket = new WebSocket(`${sim.env['LIMITLESS_WS_URL']}${path}`);
      socket.on('unexpected-response', (_request, { statusCode }) => resolve(statusCode ?? 0));
      socket.on('message', (data: Buffer) => {
        if (data.toString().startsWith('0')) socket.send('2');
      });
      socket.on('close', (code) => resolve(code));
      socket.on('error', () => {});
    });
  expect(await statusOf('/socket.io/?EIO=3&transport=websocket')).toBe(400);
  expect(await statusOf('/markets')).toBe(404);
  expect(await statusOf('/socket.io/?EIO=4&transport=websocket')).toBe(1006);
});

/** A raw connection to the namespace, its upgrade signed by a member if one is given, with the events that came. */
async function joined({ sim, world }: Rig, member?: Client) {
  const target = '/socket.io/?EIO=4&transport=websocket';
  const timestamp = new Date(world.clock.now()).toISOString();
  const token = member && world.members.withAddress(member.address)?.tokenId;
  const signed = member && {
    'lmts-api-key': token,
    'lmts-timestamp': timestamp,
    'lmts-signature': member.signature('GET', target, '', timestamp),
  };
  const socket = new WebSocket(`${sim.env['LIMITLESS_WS_URL']}${target}`, { headers: signed ?? {} });
  clients.push({ disconnect: async () => socket.terminate() });
  const events: [string, Row][] = [];
  socket.on('message', (data) => {
    if (String(data).startsWith('42/markets,')) events.push(JSON.parse(String(data).slice(11)) as [string, Row]);
  });
  socket.on('open', () => socket.send('40/markets,'));
  await vi.waitFor(() => expect(events).toHaveLength(1), 3000);
  const subscribe = async (): Promise<[string, Row]> => {
    socket.send('42/markets,["subscribe_order_events"]');
    await vi.waitFor(() => expect(events.length).toBeGreaterThan(1), 3000);
    return events[1]!;
  };
  return { events, subscribe };
}

test('order events need a signed upgrade, and a subscription within 30 s of it', async () => {
  const on = await quiet();
  expect(await (await joined(on)).subscribe()).toMatchObject(['exception', { message: 'Authentication required' }]);
  const wrong = { ...on.ann, signature: on.bob.signature };
  expect((await (await joined(on, wrong)).subscribe())[0]).toBe('exception');
  const late = await joined(on, on.ann);
  on.clock.advance(31_000);
  expect((await late.subscribe())[0]).toBe('exception');
});

test('a member hears of its own orders: engine and settlement, left in shares while it works and in base units at the end', async () => {
  const on = await quiet();
  const { market, ann, bob } = on;
  const [own, other] = [await joined(on, ann), await joined(on, bob)];
  for (const one of [own, other]) expect((await one.subscribe())[0]).toBe('system');
  const { body } = await ann.place({ market, tick: 400, milliShares: 10_000, top: { clientOrderId: 'mine' } });
  const id = (body['order'] as Row)['id'];
  for (const milliShares of [4000, 6000]) await bob.place({ market, outcome: 1, tick: 600, type: 'FAK', milliShares });
  const seen = () => own.events.slice(2).map(([, payload]) => payload);
  await vi.waitFor(() => expect(seen()).toHaveLength(7), 3000);
  expect(own.events.slice(2).map(([name]) => name)).toEqual(Array.from({ length: 7 }, () => 'orderEvent'));
  const engine = seen().filter(({ source }) => source === 'OME');
  expect(engine.map(({ type, status, remainingSize }) => [type, status, remainingSize])).toEqual([
    ['PLACEMENT', undefined, 10],
    ['UPDATE', undefined, 6],
    ['EXECUTION', 'FILLED', '0'],
  ]);
  expect(engine[0]).toMatchObject({ orderId: id, clientOrderId: 'mine' });
  const settlement = seen().filter(({ source }) => source === 'SETTLEMENT');
  expect(settlement.map(({ type }) => type).toSorted()).toEqual(['MATCHED', 'MATCHED', 'MINED', 'MINED']);
  expect(new Set(seen().map(({ orderId }) => orderId))).toEqual(new Set([id]));
  expect(other.events.slice(2).some(([, { orderId }]) => orderId === id)).toBe(false);
});
