import fastify from 'fastify';
import { Pool } from 'undici';

/**
 * The least that stands between a caller and a platform: a process with the service's server and client that passes each order on as
 * it came. It gets the platform's address, and answers with its own address.
 */
process.on('message', (platform: string) => {
  const upstream = new Pool(platform, { connections: 64 });
  const app = fastify();
  app.post('/v1/api/orders', async (request, reply) => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify(request.body);
    const answer = await upstream.request({ path: '/orders', method: 'POST', headers, body });
    return reply.code(answer.statusCode).send(JSON.parse(await answer.body.text()));
  });
  void app.listen({ port: 0, host: '127.0.0.1' }).then((address) => process.send?.(address));
});
