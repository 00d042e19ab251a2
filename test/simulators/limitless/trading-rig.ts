import { createHmac } from 'node:crypto';
import { OrderSigner, type EthersLikeWallet } from '@limitless-exchange/sdk';
import type { TypedDataParameter } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { ProfileSpec } from './members.ts';
import { UNIT, type ClobMarket, type Outcome } from './model.ts';
import { rig, type Rig, type Row } from './rig.ts';

export interface Reply {
  status: number;
  body: Row;
}

/** What a test says about an order; the rest is what an honest client fills in. */
export interface Wish {
  market: ClobMarket;
  outcome?: Outcome;
  side?: 'BUY' | 'SELL';
  type?: 'GTC' | 'FAK' | 'FOK';
  tick?: number;
  /** Thousandths of a share. */
  milliShares?: number;
  /** FOK: what is given, base units. */
  give?: number;
  /** Replaces keys of the signed struct before signing. */
  signed?: Row;
  /** Replaces keys of `order` after signing. */
  order?: Row;
  /** Further keys of the body. */
  top?: Row;
}

/** A client of one member: signs requests with his token and orders with his key. */
export interface Client {
  address: `0x${string}`;
  ownerId: number;
  signature(method: string, target: string, text: string, timestamp: string): string;
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  body(wish: Wish): Promise<Row>;
  place(wish: Wish): Promise<Reply>;
}

/** The wallet the official SDK signs with, over a viem account. */
export function sdkWallet(privateKey: `0x${string}`): EthersLikeWallet {
  const account = privateKeyToAccount(privateKey);
  return {
    address: account.address,
    getAddress: () => Promise.resolve(account.address),
    signTypedData: (domain, types, message) =>
      account.signTypedData({
        domain: domain as { verifyingContract: `0x${string}` },
        types: types as unknown as Record<string, TypedDataParameter[]>,
        primaryType: 'Order',
        message,
      }),
  };
}

let salts = 1;

/** A member's wallet key: his number, 1 to 14, as a hexadecimal digit again and again; a later number with ones before it. */
export const walletKey = (number: number): `0x${string}` =>
  `0x${number < 15 ? number.toString(16).repeat(64) : number.toString(16).padStart(64, '1')}`;

/** Joins the world as a new member. */
export function join(
  { sim, world }: Pick<Rig, 'sim' | 'world'>,
  number: number,
  spec: Omit<Partial<ProfileSpec>, 'privateKey'> = {},
): Client {
  const privateKey = walletKey(number);
  const profile = world.addProfile({ ...spec, privateKey });
  const signer = new OrderSigner(sdkWallet(privateKey));

  const key = Buffer.from(profile.secret, 'base64');
  const signature: Client['signature'] = (method, target, text, timestamp) =>
    createHmac('sha256', key).update(`${timestamp}\n${method}\n${target}\n${text}`).digest('base64');

  const send: Client['send'] = async (method, path, body, headers = {}) => {
    const text = body === undefined ? '' : JSON.stringify(body);
    const timestamp = headers['lmts-timestamp'] ?? new Date(world.clock.now()).toISOString();
    const reply = await fetch(`${sim.env['LIMITLESS_API_URL']}${path}`, {
      method,
      headers: {
        'lmts-api-key': profile.tokenId,
        'lmts-timestamp': timestamp,
        'lmts-signature': signature(method, path, text, timestamp),
        ...(text !== '' && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(text !== '' && { body: text }),
    });
    return { status: reply.status, body: (await reply.json()) as Row };
  };

  const body: Client['body'] = async (wish) => {
    const { market, outcome = 0, side = 'BUY', type = 'GTC', tick = 500, milliShares = 10_000 } = wish;
    const [shares, usd] = [milliShares * 1000, milliShares * tick];
    const [gives, gets] = side === 'BUY' ? [usd, shares] : [shares, usd];
    const unsigned = {
      salt: salts++,
      maker: profile.address,
      signer: profile.address,
      taker: '0x0000000000000000000000000000000000000000',
      tokenId: market.tokens[outcome],
      makerAmount: type === 'FOK' ? (wish.give ?? Number(UNIT)) : gives,
      takerAmount: type === 'FOK' ? 1 : gets,
      expiration: '0',
      nonce: 0,
      feeRateBps: 300,
      side: side === 'BUY' ? 0 : 1,
      signatureType: 0,
      ...wish.signed,
    };
    const signed = await signer.signOrder(unsigned as Parameters<OrderSigner['signOrder']>[0], {
      chainId: 8453,
      contractAddress: market.venue.exchange,
    });
    const price = type === 'FOK' ? {} : { price: tick / 1000 };
    const order = { ...unsigned, signature: signed, ...price, ...wish.order };
    return { order, orderType: type, marketSlug: market.slug, ownerId: profile.id, ...wish.top };
  };

  const place: Client['place'] = async (wish) => send('POST', '/orders', await body(wish));
  return { address: profile.address, ownerId: profile.id, signature, send, body, place };
}

export const orderId = (reply: Reply): string => (reply.body['order'] as Row)['id'] as string;
export const execution = (reply: Reply): Row => reply.body['execution'] as Row;
export const totals = (reply: Reply): Record<string, string> => execution(reply)['totalsRaw'] as Record<string, string>;
export const liveOrders = async (client: Client, market: ClobMarket, query = ''): Promise<Row[]> =>
  (await client.send('GET', `/markets/${market.slug}/user-orders${query}`)).body as unknown as Row[];

/** A market without anybody else's orders, charging fees, and two members. */
export async function quiet(options: { takerDelayMs?: number; chargesFees?: boolean } = {}) {
  const on: Rig = await rig();
  const market = on.world.createMarket({ title: 'A quiet market', halfSpread: 500, popularity: 0, ...options });
  return { ...on, market, ann: join(on, 1), bob: join(on, 2) };
}

/** Gives both members a hundred pairs: Ann 100 YES, Bob 100 NO, minted at a half. */
export async function minted(ann: Client, bob: Client, market: ClobMarket): Promise<void> {
  await ann.place({ market, tick: 500, milliShares: 100_000 });
  await bob.place({ market, outcome: 1, tick: 500, milliShares: 100_000 });
}
