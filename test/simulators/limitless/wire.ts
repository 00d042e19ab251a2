import { json, type SimReply } from '../lib/index.ts';

/** An answer other than 2xx; thrown anywhere below a route. */
export class Refusal extends Error {
  readonly reply: SimReply;
  constructor(reply: SimReply) {
    super(`answered ${reply.status}`);
    this.reply = reply;
  }
}

const NAMES: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  409: 'Conflict',
  425: 'Too Early',
};

/** The NestJS body: message, error, statusCode; maintenance adds a `code`. */
export const refuse = (status: number, message: unknown, extra?: { code: string }): Refusal =>
  new Refusal(json(status, { message, error: NAMES[status] ?? 'Error', statusCode: status, ...extra }));

/** 404 bodies carry a message and nothing else. */
export const notFound = (message: string): Refusal => new Refusal(json(404, { message }));

/** A whole number of the query; anything else, or outside its bounds, is a 400 and never clamped. */
export function wholeNumber(
  query: URLSearchParams,
  name: string,
  bounds: { or: number; min: number; max?: number },
): number {
  const text = query.get(name);
  if (text === null || text === '') return bounds.or;
  const max = bounds.max ?? Number.MAX_SAFE_INTEGER;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= bounds.min && value <= max) return value;
  const rule = value > max ? `must not be greater than ${max}` : `must not be less than ${bounds.min}`;
  throw refuse(400, [
    { property: name, error: Number.isNaN(value) ? `${name} must be an integer number` : `${name} ${rule}` },
  ]);
}

/** A choice of the query, or null when it was not made. */
export function choice<T extends string>(query: URLSearchParams, name: string, values: readonly T[]): T | null {
  const text = query.get(name);
  if (text === null || text === '') return null;
  const found = values.find((value) => value === text);
  if (!found)
    throw refuse(400, [{ property: name, error: `${name} must be one of the following values: ${values.join(', ')}` }]);
  return found;
}

/** Version 4, as the platform demands of order ids. */
export const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

export type JsonBody = Record<string, unknown>;
export const isObject = (value: unknown): value is JsonBody =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
