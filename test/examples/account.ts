import type { WholeService } from '../helpers/whole-service.ts';
import { type Caller, requestExample, writeExample } from './service.ts';

/** The examples of accounts, keys, credentials and orders, of one user from registration to logout. */
export async function accountExamples({ example, send }: Caller, whole: WholeService, id: string): Promise<void> {
  const { cookie } = await example('registerAccount', 201, { body: requestExample('registerAccount') });
  await example('getAccount', 200, { cookie });
  const { body: key } = await example('createApiKey', 201, { cookie, body: requestExample('createApiKey') });
  await example('listApiKeys', 200, { cookie });
  await example('runSql', 200, { cookie, body: requestExample('runSql') });
  await example('revokeApiKey', 200, { cookie, path: { id: String(key['id']) } });

  const { body: stored } = await example('storeCredential', 201, { cookie, body: requestExample('storeCredential') });
  await example('listCredentials', 200, { cookie });
  const ofStored = { path: { id: Number(stored['id']) } };
  await example('getCredential', 200, { cookie, ...ofStored });
  await example('deleteCredential', 200, { cookie, ...ofStored });
  await orderExamples({ example, send }, whole, { cookie, id });

  await example('watchWallet', 200, { cookie, body: requestExample('watchWallet') });
  await example('listWatchedWallets', 200, { cookie });
  const watched = String(requestExample('watchWallet')['address']);
  await example('unwatchWallet', 200, { cookie, path: { address: watched } });

  const { body: found } = await send('listMatches', 200, { cookie, query: { relation: 'identical', limit: 1 } });
  const [match] = found['matches'] as [{ id: string }];
  const path = { id: match.id };
  await example('giveMatchVerdict', 200, { cookie, path, body: requestExample('giveMatchVerdict') });
  await example('takeMatchVerdictBack', 200, { cookie, path });

  const { cookie: other } = await example('logIn', 200, { body: requestExample('logIn') });
  const { body: listed } = await example('listSessions', 200, { cookie });
  await example('listAccountEvents', 200, { cookie, query: { limit: 1 } });
  const sessions = listed['sessions'] as { id: string; current: boolean }[];
  const ended = sessions.find(({ current }) => !current);
  await example('endSession', 200, { cookie, path: { id: ended?.id ?? '' } });
  await example('endOtherSessions', 200, { cookie });
  const { cookie: again } = await example('changePassword', 200, { cookie, body: requestExample('changePassword') });
  await example('logOut', 200, { cookie: again || other || cookie });
}

/** An order on Kalshi that rests, is repeated, read and cancelled. */
async function orderExamples(
  { example, send }: Pick<Caller, 'example' | 'send'>,
  { simulators }: WholeService,
  { cookie, id }: { cookie: string; id: string },
): Promise<void> {
  const { apiKeyId: api_key_id, privateKeyPem: private_key } = simulators[0].world.demoAccount;
  const credential = { platform: 'kalshi', label: 'trading', fields: { api_key_id, private_key } };
  await send('storeCredential', 201, { cookie, body: credential });
  const scoped = { name: 'trading', scopes: ['read', 'trade'] };
  const key = String((await send('createApiKey', 201, { cookie, body: scoped })).body['key']);
  await example('changeOrderLimits', 200, { cookie, body: requestExample('changeOrderLimits') });
  await example('getOrderLimits', 200, { cookie });
  const body = { ...requestExample('placeOrder'), market_id: id };
  writeExample('placeOrder.request', body);
  const { body: placed } = await example('placeOrder', 201, { key, body });
  await example('placeOrder', 200, { key, body });
  const named = {
    path: { id: String((placed['order'] as { order_id: string }).order_id) },
    query: { platform: 'kalshi' },
  };
  await example('getOrder', 200, { key, ...named });
  await example('listOrders', 200, { key, query: { platform: 'kalshi', limit: 1 } });
  await example('cancelOrder', 200, { key, ...named });
  const { orders } = requestExample('placeOrders') as { orders: object[] };
  const batch = { orders: orders.map((order) => Object.assign(order, { market_id: id })) };
  writeExample('placeOrders.request', batch);
  await example('placeOrders', 200, { key, body: batch });
  await example('getBalances', 200, { key, query: { platform: 'kalshi', outcome_of: id } });
  const second = { ...body, client_order_id: 'example-2', idempotency_key: 'example-2' };
  await send('placeOrder', 201, { key, body: second });
  await example('cancelAllOrders', 200, { key, body: requestExample('cancelAllOrders') });
}
