import type { FastifyInstance, onSendHookHandler } from 'fastify';

/** Fastify's own handler of HEAD gives a 304 the length of its missing body; caches would store that as the answer's. */
const dropLength: onSendHookHandler = (_, reply, payload, done) => {
  if (reply.statusCode === 304) reply.removeHeader('content-length');
  done(null, payload);
};

/** Sends no length with a 304 to HEAD requests, on every route declared after this. */
export function dropLengthOf304(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.method === 'HEAD') route.onSend = [route.onSend ?? [], dropLength].flat();
  });
}
