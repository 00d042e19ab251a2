import { type SimReply, type SimRequest, json } from '../lib/index.ts';
import type { Account } from './account.ts';
import type { OrderDesk } from './desk.ts';
import type { Exchange } from './exchange.ts';
import type { SimMarket } from './market.ts';
import { mix32 } from './tape.ts';
import { SECOND_US } from './units.ts';

/** An error as the platform words it: nested, with a code. */
export class WireError extends Error {
  readonly status: number;
  readonly body: string;
  constructor(status: number, code: string, message: string, details?: string) {
    super(message);
    this.status = status;
    this.body = JSON.stringify({ error: { code, message, ...(details === undefined ? {} : { details }) } });
  }
}

export const badRequest = (details?: string): WireError => new WireError(400, 'bad_request', 'bad request', details);
export const notFound = (): WireError => new WireError(404, 'not_found', 'not found');

/** One request after routing. */
export interface Call {
  exchange: Exchange;
  request: SimRequest;
  query: SimRequest['query'];
  /** The path's variable parts, in order. */
  params: string[];
}

/** One request of a member. */
export interface PrivateCall extends Call {
  account: Account;
  desk: OrderDesk;
}

interface Endpoint<Context> {
  method: 'GET' | 'POST' | 'DELETE';
  /** `{}` stands for one variable part. */
  path: string;
  /** Tokens of the rate limit; 10 unless said. */
  cost?: number | ((call: Call) => number);
  handle(call: Context): SimReply;
}

export interface PublicRoute extends Endpoint<Call> {
  scope?: undefined;
}

/** Needs a key with this scope. */
export interface PrivateRoute extends Endpoint<PrivateCall> {
  scope: 'read' | 'write';
}

export type Route = PublicRoute | PrivateRoute;

export const ok = (value: unknown): SimReply => json(200, value);

/** A row list already in JSON. */
export const listReply = (name: string, rows: string[], rest: string): SimReply =>
  json(200, `{"${name}":[${rows.join(',')}],${rest}}`);

export const cursorPart = (cursor: string): string => `"cursor":"${cursor}"`;

/** A whole number from the query; null when absent, 400 when it is not one. */
export function integer(call: Call, name: string): number | null {
  const text = call.query.get(name);
  if (text === null || text === '') return null;
  if (!/^-?\d{1,15}$/.test(text)) throw badRequest(`invalid ${name}`);
  return Number(text);
}

/** Page size: a limit over the maximum is refused, not clamped; 0 means the default. */
export function limitOf(call: Call, most: number, normal: number, least = 0): number {
  const limit = integer(call, 'limit');
  if (limit === null) return normal;
  if (limit < least || limit > most) throw badRequest();
  return limit === 0 ? normal : limit;
}

/** Unix seconds from the query as microseconds. */
export function timeUs(call: Call, name: string): number | null {
  const seconds = integer(call, name);
  return seconds === null ? null : seconds * SECOND_US;
}

/** A comma-separated list; null when absent. */
export function commaList(call: Call, name: string): string[] | null {
  const text = call.query.get(name);
  return text === null || text === '' ? null : text.split(',');
}

export function flag(call: Call, name: string): boolean {
  const text = call.query.get(name) ?? 'false';
  if (text !== 'true' && text !== 'false') throw badRequest(`invalid ${name}`);
  return text === 'true';
}

/** A position below which the next page begins, as opaque base64url without padding. */
export function encodeCursor(position: number): string {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt32BE(mix32(position ^ 0x5bd1e995), 0);
  bytes.writeUInt32BE((position ^ bytes.readUInt32BE(0)) >>> 0, 4);
  bytes.writeUInt32BE(mix32(position + 1), 8);
  return bytes.toString('base64url');
}

/** The position of the query's cursor; `start` when there is none. */
export function cursorOf(call: Call, start: number): number {
  const text = call.query.get('cursor');
  if (text === null || text === '') return start;
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== 12) throw badRequest('invalid cursor');
  const position = (bytes.readUInt32BE(4) ^ bytes.readUInt32BE(0)) >>> 0;
  if (encodeCursor(position) !== text) throw badRequest('invalid cursor');
  return position;
}

/**
 * Walks positions downwards from the cursor until `limit` are kept. The cursor names a place, not a page number:
 * rows that arrive at the front shift nothing.
 */
export function pageDown(
  call: Call,
  options: {
    start: number;
    limit: number;
    keep(position: number): boolean;
    until?(position: number): boolean;
    /** The next position below one; by default its neighbour. */
    before?(position: number): number;
  },
): { positions: number[]; cursor: string } {
  const positions: number[] = [];
  const { before = (position) => position - 1 } = options;
  for (let position = before(cursorOf(call, options.start)); position >= 0; position = before(position)) {
    if (options.until?.(position)) break;
    if (!options.keep(position)) continue;
    if (positions.length === options.limit) return { positions, cursor: encodeCursor(position + 1) };
    positions.push(position);
  }
  return { positions, cursor: '' };
}

/** A market the live endpoints know; 404 for one that is unknown, archived or forgotten. */
export function liveMarket(exchange: Exchange, ticker: string): SimMarket {
  const market = exchange.marketByTicker.get(ticker);
  if (!market || !isLive(exchange, market)) throw notFound();
  return market;
}

export const isLive = (exchange: Exchange, market: SimMarket): boolean =>
  !market.vanished && !exchange.isArchived(market);
