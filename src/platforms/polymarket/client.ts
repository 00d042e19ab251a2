import type { z } from 'zod';
import { PlatformError } from '../../errors.ts';
import type { PlatformReply } from '../http.ts';
import type { LimitGroupName } from '../limits.ts';
import type { AdapterDeps, BadRow, ReadContext } from '../platform.ts';

type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

/** A limit group of Polymarket without the platform's name; what stands before the slash names the host. */
type Group = LimitGroupName extends infer Name ? (Name extends `polymarket:${infer Rest}` ? Rest : never) : never;

/** Polymarket's three hosts behind two calls, both without effect: a GET, and a POST that only reads. */
export interface PolymarketClient {
  get(group: Group, path: string, query: Query, context: ReadContext): Promise<PlatformReply>;
  post(group: Group, path: string, body: unknown, context: ReadContext): Promise<PlatformReply>;
}

export function createPolymarketClient({ http, urls }: Pick<AdapterDeps, 'http' | 'urls'>): PolymarketClient {
  const base = (group: Group): string => {
    if (group.startsWith('gamma/')) return urls.polymarketGamma;
    return group.startsWith('clob/') ? urls.polymarketClob : urls.polymarketData;
  };
  return {
    get: (group, path, query, context) =>
      http.send({ ...common(group, context), method: 'GET', url: `${base(group)}${path}${queryText(query)}` }),
    post: (group, path, body, context) =>
      http.send({
        ...common(group, context),
        method: 'POST',
        url: `${base(group)}${path}`,
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
  };
}

const common = (group: Group, context: ReadContext) => ({
  platform: 'polymarket' as const,
  group: `polymarket:${group}` as const,
  priority: context.priority,
  signal: context.signal,
  retry: true,
});

/** A list becomes a repeated parameter (`id=1&id=2`); undefined is left out. */
function queryText(query: Query): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) params.append(name, String(one));
  }
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

/** The body of a reply; a body of another shape is the platform's fault and names the endpoint. */
export function parseBody<T>(schema: z.ZodType<T>, reply: PlatformReply, endpoint: string): T {
  const result = schema.safeParse(reply.json);
  if (result.success) return result.data;
  throw new PlatformError('polymarket', 'bad_answer', {
    status: reply.status,
    detail: `${endpoint}: ${firstIssue(result.error)}`,
    cause: result.error,
  });
}

/** The rows that are what they should be; each other one is reported and left out. */
export function parseRows<T>(
  schema: z.ZodType<T>,
  rows: readonly unknown[],
  kind: BadRow['kind'],
  context: ReadContext,
): { row: T; raw: unknown }[] {
  return rows.flatMap((raw) => {
    const result = schema.safeParse(raw);
    if (result.success) return [{ row: result.data, raw }];
    context.onBadRow({ platform: 'polymarket', kind, id: rowId(raw), reason: firstIssue(result.error) });
    return [];
  });
}

function firstIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  return `${issue?.path.join('.') || '(row)'}: ${issue?.message ?? 'malformed'}`;
}

/** Whatever identifies a row that could not be read. */
function rowId(raw: unknown): string {
  const row = typeof raw === 'object' && raw !== null ? (raw as Record<string, unknown>) : {};
  const id = row.id ?? row.transactionHash ?? row.transaction_hash ?? row.asset_id ?? row.t ?? row.market ?? '';
  return String(id).slice(0, 100);
}
