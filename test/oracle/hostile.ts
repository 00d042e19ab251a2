/** What a parameter means, as far as wrong values of it go. */
export type Kind =
  | 'platform'
  | 'address'
  | 'marketId'
  | 'marketIds'
  | 'manyIds'
  | 'limit'
  | 'few'
  | 'count'
  | 'revision'
  | 'cursor'
  | 'flag'
  | 'word'
  | 'time'
  | 'amount'
  | 'text'
  | 'shortText'
  /** May be empty. */
  | 'search'
  | 'interval'
  | 'intervalWord';

export interface Parameter {
  kind: Kind;
  /** Text that is accepted; a platform is chosen by the caller. undefined where it goes with no other parameter. */
  good: string | undefined;
}
export type Endpoints = Record<string, Record<string, Parameter & { required: boolean }>>;

/** What is read of OpenAPI. */
export interface Description {
  paths: Record<string, { get?: { tags: string[]; parameters?: { name: string; required?: boolean }[] } }>;
}

const flag: Parameter = { kind: 'flag', good: 'true' };
const word = (good: string): Parameter => ({ kind: 'word', good });
const text = (good: string): Parameter => ({ kind: 'text', good });
const marketId = (good: string): Parameter => ({ kind: 'marketId', good });
const time = (good: string): Parameter => ({ kind: 'time', good });
const amount = (good: string): Parameter => ({ kind: 'amount', good });
const ofLimit: Parameter = { kind: 'limit', good: '7' };
const ofWallets: Parameter = { kind: 'platform', good: 'polymarket' };
const shortCategory: Parameter = { kind: 'shortText', good: 'sports' };
const IDS = 'KXNOSUCHMARKET-1,KXNOSUCHMARKET-2';
const FILE = '/v1/api/files/{dataset}/{platform}/{date}/{file}';

/** Parameters by name; those that differ on one endpoint by path and name. */
const PARAMETERS: Record<string, Parameter> = {
  provider: { kind: 'platform', good: 'kalshi' },
  platform: { kind: 'platform', good: 'kalshi' },
  '/v1/api/wallets/{address} platform': ofWallets,
  '/v1/api/wallets/{address}/trades platform': ofWallets,
  '/v1/api/wallets/{address}/positions platform': ofWallets,
  format: word('json'),
  limit: ofLimit,
  depth: ofLimit,
  bins: ofLimit,
  leaders: { kind: 'few', good: '2' },
  top_markets: { kind: 'count', good: '20' },
  cursor: { kind: 'cursor', good: '' },
  id: marketId('KXNOSUCHMARKET-1'),
  market_id: marketId('KXNOSUCHMARKET-1'),
  event_id: marketId('KXNOSUCHEVENT'),
  series_id: marketId('KXNOSUCHSERIES'),
  market_ids: { kind: 'manyIds', good: IDS },
  '/v1/api/markets market_ids': { kind: 'manyIds', good: undefined },
  '/v1/api/markets/price-history market_ids': { kind: 'marketIds', good: IDS },
  include_raw: flag,
  include_markets: flag,
  include_placeholders: flag,
  include_combos: flag,
  takerOnly: flag,
  query: text('rain'),
  q: { kind: 'search', good: 'rain' },
  category: text('sports'),
  '/v1/api/analytics/trending category': shortCategory,
  '/v1/api/analytics/calibration category': shortCategory,
  outcome: { kind: 'shortText', good: 'all' },
  user: text('nobody-at-all'),
  address: { kind: 'address', good: `0x${'a'.repeat(40)}` },
  addresses: { kind: 'address', good: `0x${'a'.repeat(40)},0x${'b'.repeat(40)}` },
  status: word('open'),
  types: word('markets'),
  sort: word('end_date'),
  '/v1/api/trades/whales sort': word('size'),
  order: word('asc'),
  sort_by: word('price_change'),
  window: word('7d'),
  horizon: word('7d'),
  interval: { kind: 'intervalWord', good: '4h' },
  '/v1/api/markets/price-history interval': { kind: 'interval', good: '1440' },
  min_liquidity: amount('12.5'),
  min_size: amount('12.5'),
  min_notional: amount('0'),
  at: time('1700000000'),
  start_ts: time('1700000000'),
  end_ts: time('2100-01-01'),
  ends_after: time('1700000000'),
  ends_before: time('2100-01-01'),
  from: time('1700000000'),
  to: time('2100-01-01'),
  dataset: word('trades'),
  [`${FILE} dataset`]: text('dataset=trades'),
  [`${FILE} platform`]: text('platform=kalshi'),
  date: text('date=2001-01-01'),
  file: text('part-0.parquet'),
  revision: { kind: 'revision', good: '1' },
};

function parameterOf(path: string, name: string): Parameter {
  const parameter = PARAMETERS[`${path} ${name}`] ?? PARAMETERS[name];
  if (!parameter) throw new Error(`${path}: no kind of ${name}`);
  return parameter;
}

/** Every data endpoint of OpenAPI with every parameter it takes, those in its path too. Throws for a name without a kind. */
export const endpointsOf = ({ paths }: Description): Endpoints =>
  Object.fromEntries(
    Object.entries(paths).flatMap(([path, { get }]) => {
      if (!get || !/Markets|Portfolio|Analytics|Metrics|Files/.test(get.tags.join())) return [];
      const parameters = (get.parameters ?? []).map(
        ({ name, required = false }) => [name, { ...parameterOf(path, name), required }] as const,
      );
      return [[path, Object.fromEntries(parameters)]];
    }),
  );

/** Whether a parameter is a part of the path. */
export const isInPath = (path: string, name: string): boolean => path.includes(`{${name}}`);

/** The path with its parameters filled in. */
export const filledPath = (path: string, valueOf: (name: string) => string): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => valueOf(name));

/** Text that means nothing to any parameter but free text. */
export const NOISE = [
  ' ',
  '\0',
  'kalshi\0',
  "' OR 1=1 --",
  "'); DROP TABLE trades; --",
  "\\' UNION ALL SELECT name FROM system.tables FORMAT JSON --",
  '{limit:UInt64}',
  '{"$gt":""}',
  '["kalshi"]',
  '{}',
  'null',
  'undefined',
  'NaN',
  'Infinity',
  '1e999',
  '__proto__',
  'constructor',
  'toString',
  '[object Object]',
  '../../../etc/passwd',
  '..',
  '.',
  '%',
  '%2e%2e%2f',
  '${jndi:ldap://127.0.0.1/a}',
  '{{7*7}}',
  '<script>alert(1)</script>',
  'a\r\nset-cookie: jwt=x',
  '\u001B[31m',
  '\u202Eevil',
  '😀'.repeat(30),
  'ﷺ',
  'İ',
  '\uFFFD',
  '\uFEFFkalshi',
  'é́́́́',
  '-- ',
  ';',
  '*',
  'x'.repeat(300),
  "'".repeat(900),
  '9'.repeat(400),
  'x'.repeat(8192),
];

const NUMBERS = ['-1', '-0.5', '1.5', '5e1', '0x10', '٣', '1,000', ' 5', '5 ', '+', '1_000', '99999999999999999999'];
const LONG = ['x'.repeat(513), '😀'.repeat(513), "'".repeat(8192)];
const BLANK = ['', ' ', '\t\r\n', '\u00A0\u3000'];

/** Text that each kind refuses. */
export const WRONG: Record<Kind, readonly string[]> = {
  platform: [...NOISE, '', 'KALSHI', 'kalshi ', 'kalshi,polymarket', 'platform_d', '0'],
  address: [...NOISE, '0x', 'a'.repeat(40), `0x${'a'.repeat(39)}`, `0x${'g'.repeat(40)}`, `0x${'a'.repeat(64)}`],
  marketId: [...BLANK, ...LONG],
  marketIds: [...BLANK, ',', 'A,', 'A,,B', Array.from({ length: 11 }, (_, index) => `A${index}`).join(','), ...LONG],
  manyIds: [...BLANK, ',', 'A,', 'A,,B', Array.from({ length: 101 }, (_, index) => `A${index}`).join(','), ...LONG],
  limit: [...NOISE, ...NUMBERS, '', '0', '5001', '2147483648', '-9223372036854775809'],
  few: [...NOISE, ...NUMBERS, '', '6', '-9223372036854775809'],
  count: [...NOISE, ...NUMBERS, '', '101', '-9223372036854775809'],
  revision: [...NOISE, ...NUMBERS, '', '0', '1000000001', '-9223372036854775809'],
  interval: [...NOISE, ...NUMBERS, '', '0', '5', '61'],
  cursor: [...NOISE, 'AAAA', 'bm90IGEgY3Vyc29yIGF0IGFsbA', 'bm90IGEgY3Vyc29y+/==', '0'],
  flag: [...NOISE, '', '0', '1', 'TRUE', 'yes', 'true,true'],
  word: [...NOISE, '', 'OPEN', 'open,closed', '1'],
  intervalWord: [...NOISE, '', '0', '2', '7m', '1H', '1h,1d'],
  time: [
    ...NOISE,
    ...NUMBERS.filter((value) => !['1.5', ' 5', '5 '].includes(value)),
    '',
    'yesterday',
    '1e12',
    '253402300800000',
    '2026-02-30',
    '2026-13-01T00:00:00Z',
    '2026-01-01T25:00:00Z',
    '2026-01-01T00:00:00+99:99',
    '+275760-09-13',
  ],
  amount: [...NOISE, ...NUMBERS.filter((value) => value !== '1.5'), '', '-0.0000001', '1000000000001'],
  text: [...BLANK, 'x'.repeat(201), ...LONG],
  shortText: [...BLANK, 'x'.repeat(101), ...LONG],
  search: ['x'.repeat(201), ...LONG],
};

/** Text that a parameter of free text takes, whatever it says. */
export const FREE_TEXT = NOISE.filter((value) => value.trim() !== '' && value.length <= 100);

export type BodyKind =
  | 'platform'
  | 'marketId'
  | 'word'
  | 'text'
  | 'flag'
  | 'decimal'
  | 'integer'
  | 'time'
  | 'timeOrNull'
  | 'list'
  /** A list whose entries are answered one by one. */
  | 'orders'
  | 'record';

export interface BodyField {
  kind: BodyKind;
  good: unknown;
  required?: true;
}

export interface BodyEndpoint {
  method: 'POST' | 'PATCH';
  /** Whom it serves. */
  auth: 'key' | 'session' | 'none';
  fields: Record<string, BodyField>;
}

const field = (kind: BodyKind, good: unknown): BodyField => ({ kind, good });
const must = (kind: BodyKind, good: unknown): BodyField => ({ kind, good, required: true });

/** Every endpoint that takes a body with every field of it. */
export const BODIES: Record<string, BodyEndpoint> = {
  '/v1/api/orders': {
    method: 'POST',
    auth: 'key',
    fields: {
      platform: must('platform', 'kalshi'),
      market_id: must('marketId', 'KXNOSUCHMARKET-1'),
      side: must('word', 'buy'),
      outcome: must('text', 'yes'),
      type: must('word', 'limit'),
      size: must('decimal', '1'),
      // In place of size, for market purchases alone: beside this size and price it is no part of a good body.
      amount: field('decimal', undefined),
      price: field('decimal', 0.5),
      time_in_force: field('word', 'gtd'),
      post_only: field('flag', true),
      reduce_only: field('flag', false),
      self_trade_prevention: field('word', 'cancel_taker'),
      expiration: field('time', '2100-01-01T00:00:00Z'),
      client_order_id: field('text', 'a'),
      idempotency_key: field('text', 'b'),
      // Of market orders alone: beside this price it is no part of a good body.
      max_slippage: field('decimal', undefined),
      credential_id: field('integer', 1),
      dry_run: field('flag', true),
    },
  },
  '/v1/api/orders/batch': { method: 'POST', auth: 'key', fields: { orders: must('orders', [{}]) } },
  '/v1/api/orders/cancel-all': {
    method: 'POST',
    auth: 'key',
    fields: { platform: must('platform', 'kalshi'), credential_id: field('integer', 1) },
  },
  '/v1/api/auth/register': {
    method: 'POST',
    auth: 'none',
    fields: {
      email: must('text', 'nobody@example.com'),
      password: must('text', 'a tree on that hill over there'),
      name: field('text', 'Nobody'),
    },
  },
  '/v1/api/auth/login': {
    method: 'POST',
    auth: 'none',
    fields: { email: must('text', 'nobody@example.com'), password: must('text', 'x') },
  },
  '/v1/api/auth/password': {
    method: 'POST',
    auth: 'session',
    fields: { current_password: field('text', 'x'), new_password: must('text', 'another tree on that hill') },
  },
  '/v1/api/auth/password/reset': {
    method: 'POST',
    auth: 'none',
    fields: {
      email: must('text', 'nobody@example.com'),
      // Instead of the e-mail, with the token of a link.
      token: field('text', undefined),
      new_password: field('text', undefined),
      revoke_keys: field('flag', false),
    },
  },
  '/v1/api/auth/api-keys': {
    method: 'POST',
    auth: 'session',
    fields: {
      name: must('text', 'mine'),
      scopes: field('list', ['read']),
      expires_at: field('timeOrNull', '2100-01-01T00:00:00Z'),
      allowed_addresses: field('list', ['10.0.0.0/8']),
      current_password: field('text', undefined),
    },
  },
  '/v1/api/auth/credentials': {
    method: 'POST',
    auth: 'session',
    fields: {
      platform: must('platform', 'polymarket'),
      label: must('text', 'main'),
      fields: must('record', { private_key: `0x${'11'.repeat(32)}` }),
      is_default: field('flag', false),
      current_password: field('text', undefined),
    },
  },
  '/v1/api/auth/order-settings': {
    method: 'PATCH',
    auth: 'session',
    fields: {
      trading_enabled: field('flag', true),
      max_order_notional: field('decimal', 5),
      max_day_notional: field('decimal', 5),
    },
  },
};

/** JSON text of a list in a list in a list. */
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

/** Values, as JSON text, that each kind of field refuses. */
const NO_SCALAR = ['{}', '[]', '[1]', '[[["kalshi"]]]', '{"toString":"kalshi"}', nested(5000)];
const NO_TEXT = [...NO_SCALAR, 'null', 'true', '5'];
const NO_DECIMAL = [...NO_SCALAR, 'true', '-1', '1e400', '"NaN"', '"1,5"', '"Infinity"', '1e30', '"0x1"'];
const NO_TIME = [...NO_SCALAR, 'true', '-1', '"yesterday"', '"2026-02-30"', '1e400', '1e300'];
export const WRONG_VALUES: Record<BodyKind, readonly string[]> = {
  platform: [...NO_TEXT, '""', '"KALSHI"', '"kalshi\\u0000"', '"__proto__"'],
  marketId: [...NO_TEXT, '""', `"${'x'.repeat(513)}"`],
  word: [...NO_TEXT, '""', '"toString"', '"constructor"'],
  text: [...NO_TEXT, `"${'x'.repeat(1025)}"`],
  flag: [...NO_SCALAR, 'null', '5', '""', '"yes"'],
  decimal: NO_DECIMAL,
  integer: [...NO_DECIMAL, '0.5', '0', '9007199254740993'],
  time: [...NO_TIME, 'null'],
  timeOrNull: NO_TIME,
  list: ['{}', 'null', 'true', '5', '""', '"read"'],
  orders: ['{}', 'null', 'true', '5', '""', '[]'],
  record: ['[]', '[1]', nested(5000), 'null', 'true', '5', '"{}"'],
};

/** Bodies that are no JSON, or none that is read. */
export const NO_JSON: readonly (string | Buffer)[] = [
  '{',
  '[',
  '"',
  'nul',
  'undefined',
  'NaN',
  "{'platform':'kalshi'}",
  '{"platform":}',
  '{"platform":"kalshi",}',
  '{"platform":"kalshi"}{"platform":"kalshi"}',
  '{"platform":"kal\nshi"}',
  '{"platform":"\\ud83"}',
  '\0',
  '// a comment\n{}',
  '['.repeat(60_000),
  '{"a":'.repeat(12_000),
  '{"__proto__":{"platform":"kalshi"}}',
  '{"fields":{"__proto__":{"isAdmin":true}}}',
  '{"\\u005f_proto__":{"platform":"kalshi"}}',
  '{"constructor":{"prototype":{"platform":"kalshi"}}}',
  Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0xfe, 0x22, 0x7d]),
  Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x7d]),
  Buffer.from('{"platform":"kalshi"}', 'utf16le'),
  Buffer.from([0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0]),
];

/** JSON that is no object. */
export const NO_OBJECT: readonly string[] = ['[]', '[{}]', '"x"', '5', 'true', nested(30_000)];

/** What is not application/json. */
export const NO_JSON_TYPES: readonly string[] = [
  'text/plain',
  'text/json',
  'application/xml',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/x-ndjson',
  'application/jsonp',
  'json',
  ';',
  '*/*',
  'x'.repeat(2000),
];
