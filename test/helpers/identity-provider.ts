import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

/** A person at the provider. */
export interface Person {
  sub: string;
  email: string;
  email_verified: boolean;
  name: string;
}

/** A real OpenID provider on this machine, where everybody is logged in as `person` and has consented. */
export interface IdentityProvider {
  /** Settings that point the service at it. */
  env: Record<string, string>;
  person: Person;
  /** Follows an authorization address as a browser would; returns the address the browser is sent back to. */
  authorize(address: string): Promise<URL>;
  close(): Promise<void>;
}

const CLIENT = { id: 'forecastle', secret: 'a-client-secret-for-tests' };

/** `redirectUri` is the one address the provider sends browsers back to. */
export async function startIdentityProvider(redirectUri: string): Promise<IdentityProvider> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const state = { person: { sub: 'person-1', email: 'ann@example.com', email_verified: true, name: 'Ann' } };
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [redirectUri],
        response_types: ['code'],
        grant_types: ['authorization_code'],
        application_type: 'native',
      },
    ],
    cookies: { keys: ['cookies-of-a-test'] },
    pkce: { required: () => true },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, sub) => ({ accountId: sub, claims: async () => ({ ...state.person, sub }) }),
    async loadExistingGrant(context) {
      const grant = new context.oidc.provider.Grant({
        clientId: context.oidc.client?.clientId ?? '',
        accountId: context.oidc.session?.accountId ?? '',
      });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  const handle = provider.callback();
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return void handle(request, response);
    const result = { login: { accountId: state.person.sub }, consent: {} };
    void provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  });
  return {
    env: {
      GOOGLE_CLIENT_ID: CLIENT.id,
      GOOGLE_CLIENT_SECRET: CLIENT.secret,
      GOOGLE_ISSUER: issuer,
      GOOGLE_AUTHORIZATION_URL: `${issuer}/auth`,
      GOOGLE_TOKEN_URL: `${issuer}/token`,
      GOOGLE_USERINFO_URL: `${issuer}/me`,
    },
    get person() {
      return state.person;
    },
    set person(person) {
      state.person = person;
    },
    authorize: (address) => follow(address, issuer),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function follow(address: string, issuer: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let next = new URL(address);
  for (let hops = 0; hops < 10 && next.origin === issuer; hops++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(next, { redirect: 'manual', headers: { cookie } });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = answer.headers.get('location');
    if (location === null) throw new Error(`the provider answered ${answer.status}: ${await answer.text()}`);
    next = new URL(location, issuer);
  }
  return next;
}
