import { setCookie } from '../../src/http/session-cookie.ts';
import type { AppDeps } from '../../src/routes/services.ts';
import { RECENT_MS } from '../../src/routes/sign-in.ts';

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.0\.0\.1)$/;

/**
 * Browsers on this machine that open a page are signed in as the owner of the demo's key, who has no password: their
 * logins stay recent. Only the demo adds this.
 */
export const signIn =
  (apiKey: string): AppDeps['extend'] =>
  (app, { apiKeys, sessions, clock }) => {
    app.addHook('onRequest', async (request, reply) => {
      const { caller, hostname, ip } = request;
      const local = LOOPBACK.test(ip) && (LOOPBACK.test(hostname) || hostname === 'localhost');
      if (!local) return;
      if (caller !== null) {
        if (caller.kind !== 'session' || clock.now() - caller.authenticatedAt.getTime() < RECENT_MS) return;
        const owner = await apiKeys.find(apiKey, ip);
        if (owner?.userId !== caller.userId) return;
        await sessions.authenticated(caller.sessionId);
        caller.authenticatedAt = new Date(clock.now());
        return;
      }
      if (request.headers.accept?.includes('text/html') !== true) return;
      const owner = await apiKeys.find(apiKey, ip);
      if (!owner) return;
      const origin = { address: ip, userAgent: request.headers['user-agent'] ?? '' };
      const session = await sessions.start({ id: owner.userId, passwordHash: null }, origin);
      if (session !== null) setCookie('session', request, reply, session);
    });
  };
