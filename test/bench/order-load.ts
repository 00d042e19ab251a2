import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

/** What a client is given: send these orders, each so many milliseconds after the first moment. */
export interface OrderLoad {
  url: string;
  orders: { atMs: number; key: string; body: string }[];
}

/**
 * A client in a process of its own: whoever plays the platform does not keep it waiting. Answers with the milliseconds of each
 * order, or with the words of the first that was not placed.
 */
process.on('message', ({ url, orders }: OrderLoad) => {
  const pool = new Pool(url, { connections: 128 });
  const began = performance.now();
  const place = async ({ atMs, key, body }: OrderLoad['orders'][number]): Promise<number> => {
    await sleep(Math.max(0, began + atMs - performance.now()));
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const started = performance.now();
    const reply = await pool.request({ path: '/v1/api/orders', method: 'POST', headers, body });
    const text = await reply.body.text();
    if (reply.statusCode !== 201) throw new Error(`${reply.statusCode}: ${text}`);
    return performance.now() - started;
  };
  Promise.all(orders.map(place)).then(
    (times) => process.send?.(times),
    (error: unknown) => process.send?.(String(error)),
  );
});
