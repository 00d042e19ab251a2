import type { LightMyRequestResponse as Answer } from 'fastify';
import type { TestApp } from './app.ts';

export const PASSWORD = 'plum tree 42 on the hill';

/** A caller that keeps its cookies, at an address of its own. */
export interface Browser {
  readonly address: string;
  cookies: Map<string, string>;
  send(
    method: 'GET' | 'POST' | 'DELETE',
    url: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  get(url: string, headers?: Record<string, string>): Promise<Answer>;
  post(url: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  delete(url: string): Promise<Answer>;
}

export function browser({ app, newAddress }: TestApp): Browser {
  const address = newAddress();
  const cookies = new Map<string, string>();
  const send: Browser['send'] = async (method, url, body, headers = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await app.inject({
      method,
      url,
      headers: { ...(cookie === '' ? {} : { cookie }), ...headers },
      remoteAddress: address,
      ...(body === undefined ? {} : { payload: body as object }),
    });
    for (const { name, value } of answer.cookies) {
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    return answer;
  };
  return {
    address,
    cookies,
    send,
    get: (url, headers) => send('GET', url, undefined, headers),
    post: (url, body, headers) => send('POST', url, body, headers),
    delete: (url) => send('DELETE', url),
  };
}

let people = 0;
export const newEmail = (): string => `person-${process.pid}-${(people += 1)}@example.com`;

/** A browser logged in to a new account. */
export async function registered(service: TestApp, email = newEmail()): Promise<Browser> {
  const person = browser(service);
  const answer = await person.post('/v1/api/auth/register', { email, password: PASSWORD });
  if (answer.statusCode !== 201) throw new Error(`register answered ${answer.statusCode} ${answer.body}`);
  return person;
}
