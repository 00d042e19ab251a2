import { constants, createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { DrizzleQueryError } from 'drizzle-orm/errors';
import { describe, expect, test } from 'vitest';
import { ApiError, PlatformError, reasonOf } from '../../src/core/errors.ts';
import { ONE_PRICE, parsePrice, parseSize, parseUsd, priceText, sizeText, usdText } from '../../src/core/decimal.ts';
import { boundMarketOrder, type MarketOrder } from '../../src/orders/placing/worst-price.ts';
import { bodyHash, orderIds, uuidV5 } from '../../src/orders/placing/order-ids.ts';
import { orderNotional } from '../../src/orders/spending-limits.ts';
import { kalshiSigner } from '../../src/platforms/kalshi/sign.ts';
import { evenGrid, mirrorGrid, nearestPrices, priceGrid, type PriceGrid } from '../../src/platforms/price-grid.ts';
import type { BookSide } from '../../src/core/model.ts';
import { swollenPem } from '../helpers/rsa-keys.ts';

const range = (start: string, end: string, step: string) => ({
  start: parsePrice(start),
  end: parsePrice(end),
  step: parsePrice(step),
});
const level = (price: string, size: string) => ({ price: parsePrice(price), size: parseSize(size) });
const cost = (side: 'buy' | 'sell', price: string, size: string): string =>
  usdText(orderNotional({ side, price: parsePrice(price), size: parseSize(size) }));
const shown = (price: bigint | null): string | null => (price === null ? null : priceText(price));

describe('a price grid', () => {
  const tapered = priceGrid([range('0', '0.1', '0.001'), range('0.1', '0.9', '0.01'), range('0.9', '1', '0.001')]);

  test.each([
    ['0.057', true, '0.057', '0.057'],
    ['0.0575', false, '0.057', '0.058'],
    ['0.1', true, '0.1', '0.1'],
    ['0.105', false, '0.1', '0.11'],
    ['0.899', false, '0.89', '0.9'],
    ['0.9005', false, '0.9', '0.901'],
    ['0.0005', false, null, '0.001'],
    ['0.9995', false, '0.999', null],
    ['0', false, null, '0.001'],
    ['1', false, '0.999', null],
  ])('with tapered steps: %s', (price, valid, below, above) => {
    expect(tapered.has(parsePrice(price))).toBe(valid);
    expect(shown(tapered.atMost(parsePrice(price)))).toBe(below);
    expect(shown(tapered.atLeast(parsePrice(price)))).toBe(above);
  });

  test('mirrored holds exactly the complements, whatever the steps', () => {
    const lopsided: PriceGrid = priceGrid([range('0', '0.5', '0.003'), range('0.5', '1', '0.01')]);
    const mirror = mirrorGrid(lopsided);
    for (let price = 1n; price < 1000n; price++) {
      const p = price * (ONE_PRICE / 1000n);
      expect(mirror.has(p)).toBe(lopsided.has(ONE_PRICE - p));
      const [most, least] = [mirror.atMost(p), mirror.atLeast(p)];
      expect(most === null || (most <= p && mirror.has(most))).toBe(true);
      expect(least === null || (least >= p && mirror.has(least))).toBe(true);
    }
  });

  test('names the neighbours of a price that is off it', () => {
    expect(nearestPrices(evenGrid(parsePrice('0.01')), parsePrice('0.405'))).toBe('0.4 or 0.41');
    expect(nearestPrices(evenGrid(parsePrice('0.1')), parsePrice('0.95'))).toBe('0.9');
  });
});

describe('the bound of a market order', () => {
  const book: BookSide = {
    bids: [level('0.39', '5'), level('0.35', '10')],
    asks: [level('0.41', '5'), level('0.455', '10'), level('0.6', '0.5')],
  };
  const cent = evenGrid(parsePrice('0.01'));
  const one: MarketOrder = {
    side: 'buy',
    size: parseSize('1'),
    amount: null,
    smallestSize: parseSize('0.01'),
    timeInForce: 'ioc',
    price: null,
    maxSlippage: null,
    isSized: false,
  };
  const bound = (change: Partial<MarketOrder>, grid = cent): string => {
    const order = { ...one, ...change };
    const { price, walk, size } = boundMarketOrder(order, book, grid);
    const bought = `${priceText(price)}: ${sizeText(walk.size)} for ${usdText(walk.cost)}`;
    return order.size === null ? `${bought}, size ${sizeText(size)}` : bought;
  };

  const sized = (usd: string, change: Partial<MarketOrder> = {}) => {
    const order = { ...one, size: null, isSized: true, amount: parseUsd(usd), ...change };
    const { price, size } = boundMarketOrder(order, book, evenGrid(parsePrice('0.001')));
    expect((price * size) / ONE_PRICE).toBeLessThanOrEqual(parseUsd(usd));
    return `${sizeText(size)} at ${priceText(price)}`;
  };

  test('is the last level the size needs, inward on the grid, never beyond what was walked', () => {
    expect(bound({})).toBe('0.41: 1 for 0.41');
    expect(bound({ size: parseSize('5') })).toBe('0.41: 5 for 2.05');
    expect(bound({ size: parseSize('5.000001') }, evenGrid(parsePrice('0.001')))).toBe('0.455: 5.000001 for 2.050001');
    // 0.455 is off the cent grid: the bound stays below, and only the first level is within.
    expect(bound({ size: parseSize('6') })).toBe('0.45: 5 for 2.05');
    expect(bound({ side: 'sell', size: parseSize('7') })).toBe('0.35: 7 for 2.65');
    expect(bound({ size: parseSize('100') })).toBe('0.6: 15.5 for 6.9');
  });

  test('of an amount is the last level that the amount needs, and its size is what it buys, rounded down', () => {
    const amount = (usd: string, change: Partial<MarketOrder> = {}) =>
      bound({ size: null, amount: parseUsd(usd), ...change });
    expect(amount('1')).toBe('0.41: 2.43 for 0.9963, size 2.43');
    expect(amount('1', { smallestSize: parseSize('0.001') })).toBe('0.41: 2.439 for 0.99999, size 2.439');
    expect(amount('2.05')).toBe('0.41: 5 for 2.05, size 5');
    const fine = evenGrid(parsePrice('0.001'));
    expect(bound({ size: null, amount: parseUsd('3') }, fine)).toBe('0.455: 7.08 for 2.9964, size 7.08');
    // Nothing is offered beyond 15.5, and within 0.45 beyond 5.
    expect(amount('100')).toBe('0.6: 15.5 for 6.9, size 15.5');
    expect(amount('3', { price: parsePrice('0.45') })).toBe('0.45: 5 for 2.05, size 5');
    expect(amount('2.05', { timeInForce: 'fok' })).toBe('0.41: 5 for 2.05, size 5');
    expect(() => amount('3', { timeInForce: 'fok', price: parsePrice('0.45') })).toThrow(
      'The book cannot fill the whole order',
    );
    expect(() => amount('0.004')).toThrow('The amount is too small');
  });

  test('of an amount that is sent as a size never lets the order cost more, and buys as much as that allows', () => {
    expect(sized('2.05')).toBe('5 at 0.41');
    // 7.08 would cost 2.9964 now, and 3.2214 if the first level were gone.
    expect(sized('3')).toBe('6.59 at 0.455');
    // At 0.455 the amount buys less than the first level has.
    expect(sized('2.2')).toBe('5 at 0.41');
    expect(sized('100')).toBe('15.5 at 0.6');
    expect(sized('3', { price: parsePrice('0.45') })).toBe('5 at 0.45');
    expect(sized('3', { maxSlippage: parsePrice('0.19') })).toBe('5 at 0.6');
    expect(sized('2.2', { timeInForce: 'fok' })).toBe('5 at 0.41');
    expect(() => sized('100', { timeInForce: 'fok' })).toThrow('The book cannot fill the whole order');
    expect(() => sized('0.004')).toThrow('The amount is too small');
  });

  test('keeps to the slippage and to the price given, whichever is tighter', () => {
    const cases: [Partial<MarketOrder>, string][] = [
      [{ size: parseSize('100'), maxSlippage: 0n }, '0.41: 5 for 2.05'],
      [{ size: parseSize('1'), maxSlippage: parsePrice('0.05') }, '0.46: 1 for 0.41'],
      [{ size: parseSize('100'), maxSlippage: parsePrice('0.5'), price: parsePrice('0.46') }, '0.46: 15 for 6.6'],
      [{ side: 'sell', size: parseSize('100'), maxSlippage: parsePrice('0.03') }, '0.36: 5 for 1.95'],
      [{ side: 'sell', size: parseSize('100'), price: parsePrice('0.37') }, '0.37: 5 for 1.95'],
      // Wider than all prices there are: the grid ends it.
      [{ maxSlippage: parsePrice('0.98') }, '0.99: 1 for 0.41'],
    ];
    for (const [change, expected] of cases) expect(bound(change)).toBe(expected);
  });

  test('is refused where nothing, or for a fok not all, is offered within it', () => {
    expect(() => bound({ price: parsePrice('0.4') })).toThrow('The book offers nothing within the worst price');
    expect(() => bound({ size: parseSize('6'), timeInForce: 'fok' })).toThrow('The book cannot fill the whole order');
    expect(() => boundMarketOrder(one, { bids: book.bids, asks: [] }, cent)).toThrow(
      'The book offers nothing at any price',
    );
  });
});

describe('what an order can cost, for the limits of an account', () => {
  test('is the worst price of a purchase, and the dearer side of the worst price of a sale', () => {
    expect(cost('buy', '0.01', '400')).toBe('4');
    expect(cost('buy', '0.99', '400')).toBe('396');
    expect(cost('sell', '0.01', '400')).toBe('396');
    expect(cost('sell', '0.99', '400')).toBe('396');
    expect(cost('sell', '0.5', '0.000003')).toBe('0.000002');
  });
});

describe("an order's identity", () => {
  test('follows from user and key', () => {
    const first = orderIds('u', 'k', null);
    expect(orderIds('u', 'k', null)).toEqual(first);
    expect(orderIds('u', 'k', 'mine')).toEqual({ ...first, clientOrderId: 'mine' });
    const others = [orderIds('v', 'k', null), orderIds('u', 'l', null)];
    for (const other of [...others, orderIds('u', null, null)]) {
      expect(other.clientOrderId).not.toBe(first.clientOrderId);
      expect(Buffer.from(other.seed).equals(first.seed)).toBe(false);
    }
  });

  test('is a version 5 UUID', () => {
    expect(uuidV5('x')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test('of a body does not depend on how it is written', () => {
    expect(bodyHash({ a: 1n, b: undefined, c: 'x' })).toBe(bodyHash({ c: 'x', a: 1n }));
    expect(bodyHash({ a: 1n })).not.toBe(bodyHash({ a: '1' }));
  });
});

describe("a Kalshi member's signature", () => {
  const NOW = 1_795_219_200_123;
  const url = 'https://external-api.kalshi.com/trade-api/v2/portfolio/orders?status=resting';
  const message = Buffer.from(`${NOW}GET/trade-api/v2/portfolio/orders`);
  const headers = (pem: string) => kalshiSigner({ api_key_id: 'id-1', private_key: pem }, () => NOW)('GET', url);

  test('of an RSA key is PSS over time, method and path, with a salt of the digest', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const signed = await headers(String(privateKey.export({ type: 'pkcs8', format: 'pem' })));
    expect(signed).toMatchObject({ 'kalshi-access-key': 'id-1', 'kalshi-access-timestamp': String(NOW) });
    const pss = { key: publicKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };
    expect(verify('sha256', message, pss, Buffer.from(signed['kalshi-access-signature'] ?? '', 'base64'))).toBe(true);
  });

  test('of an Ed25519 key is the known answer of RFC 8032 keys: deterministic, over the same bytes', async () => {
    // Secret key of RFC 8032, section 7.1, test 1.
    const seed = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex');
    const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
    const pem = `-----BEGIN PRIVATE KEY-----\n${der.toString('base64')}\n-----END PRIVATE KEY-----\n`;
    const signature = Buffer.from((await headers(pem))['kalshi-access-signature'] ?? '', 'base64');
    const publicDer = Buffer.from(
      '302a300506032b6570032100d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
      'hex',
    );
    const publicKey = createPublicKey({ key: publicDer, format: 'der', type: 'spki' });
    expect(signature).toHaveLength(64);
    expect(verify(null, message, publicKey, signature)).toBe(true);
  });

  test('is made off the event loop, however long the key', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 4096 });
    let turned = false;
    setImmediate(() => (turned = true));
    await headers(String(privateKey.export({ type: 'pkcs8', format: 'pem' })));
    expect(turned).toBe(true);
  });

  test('is refused to a stored key that would hold a core for long', () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
    expect(() => headers(swollenPem(pem))).toThrow('private key');
  });
});

test('a failure is noted without statements, values and addresses', () => {
  const cause = Object.assign(new Error('connect ECONNREFUSED 10.0.0.7'), { code: 'ECONNREFUSED' });
  const statement = new DrizzleQueryError('select * from users where email = $1', ['ann@example.com'], cause);
  expect(reasonOf(statement)).toBe('Error: Error ECONNREFUSED');
  const mail = Object.assign(new Error('550 no such user <ann@example.com>'), { code: 'EENVELOPE' });
  expect(reasonOf(mail)).toBe('Error EENVELOPE');
  const platform = new PlatformError('kalshi', 'refused', { status: 400, detail: 'invalid order' });
  expect(reasonOf(platform)).toBe('kalshi refused (HTTP 400): invalid order');
  expect(reasonOf(new ApiError(422, 'gone', { resolution: '' }))).toBe('gone');
});
