import type { AddressInfo } from 'node:net';
import { startTestApp } from './app.ts';

/** One process of the service on the stores named by DATABASE and PREFIX; sends its port, ends with its parent. */
const { DATABASE = '', PREFIX = '' } = process.env;
const service = await startTestApp({
  databaseUrl: DATABASE,
  env: { TRUST_PROXY: '127.0.0.1', LOG_LEVEL: 'warn' },
  prefix: PREFIX,
});
await service.app.listen({ host: '127.0.0.1', port: 0 });
process.send?.((service.app.server.address() as AddressInfo).port);
process.on('disconnect', () => {
  void service.close().finally(() => process.exit());
});
