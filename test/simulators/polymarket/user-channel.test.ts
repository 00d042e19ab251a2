import { once } from 'node:events';
import { Side } from '@polymarket/clob-client-v2';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { type ManualClock, manualClock } from '../lib/index.ts';
import { startPolymarket } from '../polymarket.ts';
import { createRig, type Trader, type TradingRig } from './trading-rig.ts';

type Frame = Record<string, unknown>;

let clock: ManualClock;
let sim: Awaited<ReturnType<typeof startPolymarket>>;
let rig: TradingRig;
const open: WebSocket[] = [];

beforeEach(async () => {
  clock = manualClock('2026-11-20T12:00:00Z');
  sim = await startPolymarket({ clock, markets: 1, tradesPerMarket: 2 });
  sim.enforceLimits = false;
  rig = createRig(sim);
});
afterEach(async () => {
  for (const socket of open.splice(0)) socket.terminate();
  await sim.close();
});

async function connect({ creds }: Pick<Trader, 'creds'>, markets: string[] = []) {
  const socket = new WebSocket(sim.env['POLYMARKET_WS_URL']!.replace(/market$/, 'user'));
  open.push(socket);
  const frames: Frame[] = [];
  const answered = new Promise<void>((resolve) => {
    socket.on('message', (data) => {
      if (String(data) === 'PONG') resolve();
      else frames.push(JSON.parse(String(data)) as Frame);
    });
  });
  await once(socket, 'open');
  const { key: apiKey, secret, passphrase } = creds;
  socket.send(JSON.stringify({ auth: { apiKey, secret, passphrase }, type: 'user', markets }));
  socket.send('PING');
  return { socket, frames, answered };
}

const statuses = (frames: Frame[] | undefined) =>
  frames?.flatMap(({ event_type: type, status }) => (type === 'trade' ? [status] : []));

test('a wrong key is cut off without a word', async () => {
  const { creds } = await rig.trader();
  const { socket, frames } = await connect({ creds: { ...creds, secret: `x${creds.secret.slice(1)}` } });
  await once(socket, 'close');
  expect(frames).toEqual([]);
});

test('each party hears of its own orders and of every status of its trades, of the markets it named', async () => {
  const market = rig.flat();
  const [yes = ''] = market.tokenIds;
  sim.world.book(market)?.remove(() => true);
  const [ann, bob, eve] = [await rig.trader(), await rig.trader(), await rig.trader()];
  const all = await Promise.all([
    connect(ann),
    connect(bob, [market.conditionId]),
    connect(eve),
    connect(bob, ['0x1']),
  ]);
  await Promise.all(all.map(({ answered }) => answered));
  sim.world.giveShares(bob.account.wallet, market, 10_000_000n);
  const { orderID: id } = await rig.limit(ann, { token: yes, at: 0.3, size: 20 });
  await rig.limit(bob, { token: yes, side: Side.SELL, at: 0.3, size: 10 });
  const [own, other, none, elsewhere] = all.map(({ frames }) => frames);
  for (const status of ['MATCHED', 'MINED', 'CONFIRMED']) {
    await vi.waitFor(() => expect(statuses(own)?.at(-1)).toBe(status), 3000);
    clock.advance(4500);
  }
  const trade = sim.world.exchange.trades.at(-1)!;
  sim.world.exchange.fail(trade);
  await vi.waitFor(() => expect(statuses(other)?.at(-1)).toBe('FAILED'), 3000);
  expect(statuses(other)).toEqual(['MATCHED', 'MINED', 'CONFIRMED', 'FAILED']);
  const orders = own?.filter(({ event_type: type }) => type === 'order');
  expect(orders?.map(({ id: order, type, status, size_matched: size }) => [order, type, status, size])).toEqual([
    [id, 'PLACEMENT', 'LIVE', '0'],
    [id, 'UPDATE', 'LIVE', '10'],
  ]);
  expect(own?.find(({ event_type: type }) => type === 'trade')).toMatchObject({
    id: trade.id,
    trader_side: 'MAKER',
    maker_orders: [{ order_id: id, matched_amount: '10', owner: ann.creds.key }],
  });
  expect([none, elsewhere]).toEqual([[], []]);
});

test('an order that fills at once or never is killed after its delay, in a frame without amounts and times', async () => {
  const market = rig.flat({ secondsDelay: 3 });
  const [yes = ''] = market.tokenIds;
  const who = await rig.trader();
  const { frames, answered } = await connect(who);
  await answered;
  const reply = await rig.now(who, { token: yes, side: Side.BUY, amount: 4, at: 0.41 });
  expect(reply).toMatchObject({ status: 'delayed' });
  sim.world.book(market)?.remove(() => true);
  clock.advance(3000);
  await vi.waitFor(() => expect(frames).toHaveLength(1), 3000);
  expect(frames[0]).toMatchObject({ event_type: 'order', type: 'CANCELLATION', size_matched: '', created_at: '' });
  expect(frames[0]?.['status']).toMatch(/^CANCELED_order couldn't be fully filled/);
});

test('a finer price step is announced for both tokens on the market channel', async () => {
  const market = rig.flat();
  const socket = new WebSocket(sim.env['POLYMARKET_WS_URL']!);
  open.push(socket);
  const texts: string[] = [];
  socket.on('message', (data) => texts.push(String(data)));
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'market', assets_ids: market.tokenIds, initial_dump: true }));
  await vi.waitFor(() => expect(texts.join('')).toContain('"book"'));
  sim.world.setTick(market, market.tick / 10n);
  await vi.waitFor(() => {
    const frames = texts.filter((text) => text.includes('tick_size_change')).map((text) => JSON.parse(text) as Frame);
    expect(frames).toMatchObject(
      market.tokenIds.map((asset_id) => ({ asset_id, old_tick_size: '0.01', new_tick_size: '0.001' })),
    );
  });
});
