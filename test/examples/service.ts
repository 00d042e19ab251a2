import { readFileSync, writeFileSync } from 'node:fs';
import type { WholeService } from '../helpers/whole-service.ts';

export const FOLDER = new URL('../../src/http/openapi/examples/', import.meta.url);
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';
/** Of documentation (RFC 5737), in place of this machine's own. */
const ADDRESS = '203.0.113.7';

export type Json = Record<string, unknown>;

/** How an operation is called: with the demo's key unless another or a cookie is given. */
export interface Call {
  path?: Record<string, string | number>;
  query?: Record<string, string | number>;
  body?: unknown;
  key?: string;
  cookie?: string;
}

/** One request body as the description shows it; these are written by hand. */
export const requestExample = (operation: string): Json =>
  JSON.parse(readFileSync(new URL(`${operation}.request.json`, FOLDER), 'utf8')) as Json;

/** The first of a list of rows, the first two of a list within a row. */
export function shortened(value: unknown, depth = 0): unknown {
  if (Array.isArray(value)) return value.slice(0, depth > 1 ? 2 : 1).map((item) => shortened(item, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shortened(field, depth + 1)]));
}

/** Writes one example file. */
export function writeExample(name: string, body: unknown): void {
  const text = JSON.stringify(body, null, 2).replaceAll('127.0.0.1', ADDRESS);
  writeFileSync(new URL(`${name}.json`, FOLDER), `${text}\n`);
}

/** Calls operations of a running service by their ids, and writes what they answer as examples. */
export async function createCaller(whole: WholeService) {
  const { paths } = (await (await whole.get('/v1/api/openapi.json')).json()) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => ({ operationId, path, method: method.toUpperCase() })),
  );

  /** The answer and its cookies; fails on a status that was not expected. */
  const send = async (operation: string, status: number, call: Call = {}) => {
    const route = routes.find(({ operationId }) => operationId === operation);
    if (!route) throw new Error(`no operation ${operation}`);
    const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(call.path?.[name] ?? ''));
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(call.query ?? {})) query.set(name, String(value));
    const auth: Record<string, string> = call.cookie ? { cookie: call.cookie } : { 'x-api-key': call.key ?? whole.key };
    const content: Record<string, string> = call.body ? { 'content-type': 'application/json' } : {};
    const reply = await fetch(`${whole.service.url}${path}?${query}`, {
      method: route.method,
      headers: { 'user-agent': BROWSER, ...auth, ...content },
      ...(call.body ? { body: JSON.stringify(call.body) } : {}),
    });
    const text = await reply.text();
    if (reply.status !== status) throw new Error(`${operation} answered ${reply.status}, not ${status}: ${text}`);
    const cookie = reply.headers
      .getSetCookie()
      .map((line) => line.split(';', 1)[0])
      .join('; ');
    return { body: JSON.parse(text) as Json, cookie };
  };

  return {
    send,
    /** The same, and writes the answer, or what `shown` makes of it, as the example of its status. */
    async example(operation: string, status: number, call?: Call, shown = (body: Json): Json => body) {
      const answer = await send(operation, status, call);
      writeExample(`${operation}.${status}`, shortened(shown(answer.body)));
      process.stdout.write(`${operation}.${status}\n`);
      return answer;
    },
  };
}

export type Caller = Awaited<ReturnType<typeof createCaller>>;
