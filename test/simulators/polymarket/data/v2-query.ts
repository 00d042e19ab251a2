import { hash, randomUUID } from 'node:crypto';
import { json, type SimReply } from '../../lib/index.ts';
import { CONTRACTS } from '../clob/typed-data.ts';
import type { SimMarket, SimWallet } from '../world/model.ts';
import type { PolymarketWorld } from '../world/world.ts';

/** Contracts of the protocol, which are nobody's wallets. */
const PROTOCOL = new Set(Object.values(CONTRACTS).map((address) => address.toLowerCase()));

/** A refusal of the Data API v2. */
export class V2Error extends Error {
  readonly status: number;
  readonly code: string;
  readonly parameter: string | undefined;
  constructor(message: string, parameter?: string, status = 400, code = 'invalid_request') {
    super(message);
    this.status = status;
    this.code = code;
    this.parameter = parameter;
  }
}

export function v2Refusal(error: V2Error, headers: Record<string, string> = {}): SimReply {
  const trace = randomUUID();
  const retryable = error.status === 429 || error.status >= 500;
  const body = { error: error.message, code: error.code, retryable, trace_id: trace, parameter: error.parameter };
  return json(error.status, body, { 'x-trace-id': trace, ...headers });
}

/** The parameters of one request; camelCase names count as their snake_case twins. */
export class Asked {
  private readonly world: PolymarketWorld;
  private readonly values = new Map<string, string>();

  constructor(world: PolymarketWorld, query: URLSearchParams) {
    this.world = world;
    for (const [name, value] of query) {
      const key = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      this.values.set(key === 'condition_id' ? 'condition' : key, value);
    }
    if (this.values.has('offset')) throw new V2Error('offset is not supported, use cursor', 'offset');
  }

  text(name: string): string | null {
    return this.values.get(name) || null;
  }

  whole(name: string, fallback: number): number {
    const text = this.text(name);
    if (text === null) return fallback;
    if (!/^\d{1,12}$/.test(text)) throw new V2Error(`${name} must be a whole number`, name);
    return Number(text);
  }

  list(name: string, most: number): string[] {
    const items = (this.text(name) ?? '').split(',').filter(Boolean);
    if (items.length > most) throw new V2Error(`at most ${most} values of ${name}`, name);
    return items;
  }

  address(): string {
    const text = this.text('user');
    if (text === null) throw new V2Error("required query param 'user' not provided", 'user');
    // A list is no error: nobody has it for an address.
    if (!/^0x[0-9a-fA-F]{40}(,|$)/.test(text)) throw new V2Error('user must be an address', 'user');
    const address = text.toLowerCase();
    if (PROTOCOL.has(address)) throw new V2Error('user must not be a protocol contract', 'user');
    return address;
  }

  user(): SimWallet | undefined {
    return this.world.walletOf(this.address());
  }

  /** Markets of `condition` and `event_id` (20 each at most); null when neither is given. */
  markets(): SimMarket[] | null {
    const conditions = this.list('condition', 20);
    const events = this.list('event_id', 20);
    const malformed = conditions.find((id) => !/^0x([0-9a-fA-F]{62}|[0-9a-fA-F]{64})$/.test(id));
    if (malformed !== undefined) throw new V2Error(`invalid condition: ${malformed}`, 'condition');
    if (conditions.length + events.length === 0) return null;
    const named = conditions.map((id) => this.world.catalog.byConditionId(id.toLowerCase()));
    const nested = events.flatMap((id) => this.world.catalog.event(id)?.markets ?? []);
    return [...named, ...nested].filter((market) => market !== undefined);
  }

  limit(fallback: number, most: number): number {
    const limit = this.whole('limit', fallback);
    if (limit < 1 || limit > most) throw new V2Error(`limit must be 1 to ${most}`, 'limit');
    return limit;
  }

  /** The cursor's own limit and place, and what else it binds; null on the first page. */
  place(type: string, binds: Record<string, string> = {}): { limit: number; at: number } | null {
    const cursor = this.text('cursor');
    if (cursor === null) return null;
    const params = readCursor(cursor, type);
    for (const [name, value] of Object.entries(binds)) {
      if (this.text(name) !== null && params.b[name] !== value) throw new V2Error(`${name} contradicts cursor`, name);
    }
    return { limit: params.l, at: params.at };
  }

  cursor(type: string, limit: number, at: number, binds: Record<string, string> = {}): string {
    const data = { type, params: { l: limit, at, b: binds } };
    return Buffer.from(JSON.stringify({ data, sig: sign(data) })).toString('base64url');
  }

  /** What `binds` names as the cursor has it: what a page behind the first may leave out. */
  bound(type: string, name: string): string | null {
    const cursor = this.text('cursor');
    return cursor === null ? null : (readCursor(cursor, type).b[name] ?? null);
  }

  /** One page of rows that are counted from the start. */
  page(
    type: string,
    rows: readonly unknown[],
    bounds: { fallback: number; most: number },
    binds: Record<string, string> = {},
  ) {
    const place = this.place(type, binds);
    const limit = place?.limit ?? this.limit(bounds.fallback, bounds.most);
    const at = place?.at ?? 0;
    const more = at + limit < rows.length;
    return envelope(rows.slice(at, at + limit), limit, more ? this.cursor(type, limit, at + limit, binds) : null, at);
  }
}

interface CursorParams {
  /** Rows of a page. */
  l: number;
  at: number;
  b: Record<string, string>;
}

function readCursor(cursor: string, type: string): CursorParams {
  try {
    const text = Buffer.from(cursor, 'base64url').toString();
    const read = JSON.parse(text) as { data: { type: string; params: CursorParams }; sig: string };
    if (read.data.type === type && read.sig === sign(read.data)) return read.data.params;
  } catch {
    // Falls through to the one answer a bad cursor gets.
  }
  throw new V2Error('invalid cursor', 'cursor');
}

const sign = (data: unknown): string => hash('sha256', `v2:${JSON.stringify(data)}`).slice(0, 32);

export const envelope = (data: unknown[], limit: number, next: string | null, offset = 0) => ({
  data,
  pagination: { limit, offset, has_more: next !== null, next_cursor: next },
});
