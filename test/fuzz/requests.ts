import { BODIES, type Description, endpointsOf, filledPath, isInPath, NOISE, WRONG_VALUES } from '../oracle/hostile.ts';
import type { Rng } from '../simulators/lib/rng.ts';
import { addressMaker, UNDESCRIBED } from './addresses.ts';

/** Who sends a request: nobody known, the holder of a key, or a browser that has logged in. */
export interface Sender {
  key: string;
  cookie: string;
}

export interface FuzzRequest {
  bytes: Buffer;
  /** Bytes that are no HTTP at all may be answered by closing. */
  malformed: boolean;
}

const METHODS = ['GET', 'GET', 'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];
const HEADERS: readonly (readonly [string, readonly string[]])[] = [
  ['accept', ['*/*', 'text/csv', 'application/x-ndjson', 'constructor, application/x-ndjson', ';;;', 'text/csv;q=x']],
  ['accept-encoding', ['br', 'gzip', 'constructor', 'br;q=9,,', '*']],
  ['content-encoding', ['gzip', 'hasOwnProperty', 'br']],
  ['content-type', ['application/json', 'text/plain', 'application/json; charset=x', '__proto__']],
  ['if-none-match', ['*', 'W/"x"', '"', ',,,,']],
  ['if-match', ['*', '"x"']],
  ['range', ['bytes=0-1', 'bytes=99999999-', 'x']],
  ['cookie', ['jwt=', 'jwt=a.b.c', 'jwt=%00', ';;=;=']],
  ['origin', ['null', 'http://elsewhere', '://']],
  ['host', ['', 'x:99999', '[::', 'a b']],
  ['x-forwarded-for', ['1.2.3.4', '::1', "' OR 1=1"]],
  ['x-request-id', ['x', 'x'.repeat(300)]],
  ['x-api-key', ['pk_', 'x'.repeat(3000), 'é']],
  ['authorization', ['Bearer', 'Basic x', 'Bearer pk_x']],
  ['expect', ['100-continue', 'magic']],
  ['upgrade', ['websocket', 'h2c']],
  ['connection', ['close', 'upgrade', 'keep-alive, x']],
];

const whole = (method: string, target: string, headers: string, body?: string): FuzzRequest => {
  const length = body === undefined ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`;
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\nhost: x\r\n${headers}${length}\r\n`, 'latin1');
  return { bytes: Buffer.concat([head, Buffer.from(body ?? '')]), malformed: false };
};

export interface KnownMarket {
  platform: string;
  id: string;
}

/** Whole requests of every kind: to addresses of any shape, to each route with wrong values, with odd bodies, and what is no HTTP. */
export function requestMaker(
  rng: Rng,
  description: Description,
  markets: readonly KnownMarket[],
): (sender: Sender) => FuzzRequest {
  const ids = ['KXNOSUCHMARKET-1', '0x0', 'a'.repeat(900), ...markets.map((market) => market.id)];
  const routes = [...Object.keys(description.paths), ...UNDESCRIBED];
  const address = addressMaker(rng, routes);
  const endpoints = endpointsOf(description);
  const noise = (): string => rng.pick(rng.chance(0.5) ? NOISE : ids);
  const oddHeaders = (): string =>
    Array.from({ length: rng.chance(0.5) ? 0 : rng.int(1, 4) }, () => {
      const [name, values] = rng.pick(HEADERS);
      return `${name}: ${rng.pick(values)}\r\n`;
    }).join('');
  const as = ({ key, cookie }: Sender): string =>
    rng.chance(0.15) ? '' : `x-api-key: ${key}\r\n${rng.chance(0.2) ? `cookie: ${cookie}\r\n` : ''}`;

  const toRoute = (sender: Sender): FuzzRequest => {
    const path = rng.pick(Object.keys(endpoints));
    const market = rng.pick(markets);
    const known: Record<string, string> = {
      provider: market.platform,
      platform: market.platform,
      id: market.id,
      market_id: market.id,
      market_ids: market.id,
      // Within what is stored: a history that has to be read from its platform may take 2.5 s.
      start_ts: String(Math.floor(Date.now() / 1000) - 86_400),
      end_ts: String(Math.floor(Date.now() / 1000)),
    };
    // Half are as they should be: what reaches the stores is wrong in no field.
    const isSound = rng.chance(0.5);
    const values = Object.entries(endpoints[path] ?? {}).flatMap(([name, { good }]): [string, string][] => {
      if (good === undefined) return [];
      if (isSound) return [[name, known[name] ?? good]];
      return rng.chance(0.1)
        ? []
        : [
            [
              rng.chance(0.03) ? noise() : name,
              rng.chance(0.25) ? noise() : isTime(name) ? (known[name] ?? good) : good,
            ],
          ];
    });
    const query = values.filter(([name]) => !isInPath(path, name)).map((pair) => pair.map(encoded).join('='));
    const own = filledPath(path, (wanted) =>
      encoded(values.find(([name]) => name === wanted)?.[1] ?? rng.pick(ids)).slice(0, 2000),
    );
    const target = `${own}?${query.join('&')}`.slice(0, 8000);
    return whole(rng.chance(0.85) ? 'GET' : rng.pick(METHODS), target, as(sender) + oddHeaders());
  };

  const withBody = (sender: Sender): FuzzRequest => {
    const url = rng.pick(Object.keys(BODIES));
    const { method = 'POST', fields = {} } = BODIES[url] ?? {};
    const members = Object.entries(fields).flatMap(([name, { kind, good }]) => {
      if (rng.chance(0.1)) return [];
      const value = rng.chance(0.3) ? rng.pick(WRONG_VALUES[kind]) : (JSON.stringify(good) ?? 'null');
      return [`${JSON.stringify(rng.chance(0.05) ? noise().slice(0, 200) : name)}:${value}`];
    });
    let body = `{${members.join(',')}}`;
    if (rng.chance(0.1)) body = body.slice(0, rng.int(0, body.length));
    if (rng.chance(0.02)) body = '['.repeat(rng.int(1, 60_000));
    const type = rng.chance(0.9) ? 'content-type: application/json\r\n' : '';
    return whole(
      rng.chance(0.9) ? method : rng.pick(METHODS),
      url,
      type + as(sender) + oddHeaders(),
      body.slice(0, 64_000),
    );
  };

  const broken = ({ key }: Sender): FuzzRequest => {
    const good = `GET ${rng.pick(routes)} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n\r\n`;
    const bytes = Buffer.from(good, 'latin1');
    for (let changes = rng.int(1, 6); changes > 0; changes -= 1) bytes[rng.int(0, bytes.length - 5)] = rng.int(0, 255);
    return { bytes, malformed: true };
  };

  return (sender) => {
    const kind = rng.next();
    if (kind < 0.35) return whole(rng.pick(METHODS), address(), (rng.chance(0.5) ? as(sender) : '') + oddHeaders());
    if (kind < 0.7) return toRoute(sender);
    if (kind < 0.92) return withBody(sender);
    return broken(sender);
  };
}

const isTime = (name: string): boolean => name.endsWith('_ts');

/** As encodeURIComponent, which throws for half a character. */
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());
