import { Negotiator } from '@fastify/accept-negotiator';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { noteEvent, signInByIdentity } from '../accounts/users.ts';
import type { Services } from './services.ts';
import { endpoint } from '../http/endpoint.ts';
import { ApiError } from '../core/errors.ts';
import { identityOf, setUpGoogle } from '../http/google-oauth.ts';
import { UserAnswer } from '../schemas/account.ts';
import { userAnswer } from './account.ts';
import { signIn } from './sign-in.ts';

const text = (what: string) => z.string().max(4096).optional().describe(`${what}, from the identity provider`);

const PAGE_TYPE = 'text/html';
const types = new Negotiator({ supportedValues: ['application/json', PAGE_TYPE] });

/** Sign-in with Google, or with any OpenID provider in the settings: OAuth 2.0 authorization code with PKCE and state. */
export async function googleRoutes(app: FastifyInstance, services: Services): Promise<void> {
  const { config, postgres } = services;
  const configured = await setUpGoogle(app, config);
  const refuseUnconfigured = (): void => {
    if (configured) return;
    throw new ApiError(404, 'Google sign-in is not configured', {
      resolution: 'Operator: set GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET. Otherwise register with a password.',
    });
  };

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/auth/google',
      auth: 'none',
      tag: 'Account',
      operation: 'startGoogleLogin',
      summary: 'Log in with Google: redirects to Google',
      statuses: [302],
      errors: [404],
      answer: z.unknown(),
    },
    async ({ request, reply }) => {
      refuseUnconfigured();
      return reply.redirect(await app.google.generateAuthorizationUri(request, reply));
    },
  );

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/auth/google/callback',
      auth: 'none',
      limit: 'login',
      tag: 'Account',
      operation: 'finishGoogleLogin',
      summary: 'OAuth callback: sets the session cookie',
      description: 'A caller that prefers text/html, as a browser does, is redirected to /account.',
      query: {
        code: text('Authorization code'),
        state: text('State issued by this service'),
        error: text('Error code if there is no code'),
        iss: text('Issuer'),
      },
      // RFC 6749 §4.1.2: a client must ignore parameters that it does not know.
      ignoresUnknown: true,
      errors: [401, 403, 404, 409],
      answer: UserAnswer,
    },
    async ({ caller, request, reply }) => {
      refuseUnconfigured();
      const identity = await identityOf(app, config, request, reply);
      const loggedInAs = caller?.kind === 'session' ? caller.userId : null;
      const { registrationOpen } = config;
      const user = await signInByIdentity(postgres.db, identity, { loggedInAs, registrationOpen });
      await noteEvent(services, 'logged_in', user.id, request.ip, { issuer: identity.issuer });
      await signIn(services, request, reply, user);
      reply.header('vary', 'accept');
      const wanted = types.negotiate(request.headers.accept ?? '');
      return wanted === PAGE_TYPE ? reply.redirect('/account', 302) : userAnswer(user, reply);
    },
  );
}
