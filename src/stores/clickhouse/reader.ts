import { randomUUID } from 'node:crypto';
import type { ClickHouseSettings } from '@clickhouse/client';
import { parseError } from '@clickhouse/client';
import {
  buildMultipartBody,
  formatQueryParams,
  serializeQueryParamsForUrl,
} from '@clickhouse/client/dist/common/index.js';
import { Pool } from 'undici';

/** One SELECT: text, values of {name:Type}, output format, settings and deadline. */
export interface Read {
  text: string;
  format: 'JSONEachRow' | 'RowBinary';
  params: Record<string, unknown>;
  settings: ClickHouseSettings;
  signal: AbortSignal;
}

/** Rows over HTTP. */
export interface StatementReader {
  read(read: Read): Promise<Buffer>;
  close(): Promise<void>;
}

/** Below the time after which servers drop an idle connection. */
const IDLE_MS = 8000;

/**
 * Sends reads immediately: the official client waits for a timer before each request and sends its body in chunks, which takes longer
 * than a small query. Its parameter formatting and error parsing are used here.
 */
export function openReader(url: string, connections: number): StatementReader {
  const { origin, username, password, pathname } = new URL(url);
  // The signal of each call is its time limit.
  const pool = new Pool(origin, {
    connections,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
  });
  const login = `${decodeURIComponent(username) || 'default'}:${decodeURIComponent(password)}`;
  const headers = {
    authorization: `Basic ${Buffer.from(login).toString('base64')}`,
    'user-agent': 'forecastle',
  };
  const database = decodeURIComponent(pathname.slice(1)) || 'default';

  return {
    async read({ text, format, params, settings, signal }) {
      const search = new URLSearchParams({ database, default_format: format });
      for (const [name, value] of Object.entries(settings)) search.append(name, String(value));
      const inUrl = serializeQueryParamsForUrl(params);
      for (const [name, value] of inUrl ?? []) search.append(name, value);
      const body = inUrl ? { headers, body: text } : withParams(text, params, headers);
      const reply = await pool.request({ method: 'POST', path: `/?${String(search)}`, signal, ...body });
      const answer = Buffer.from(await reply.body.arrayBuffer());
      if (reply.statusCode !== 200 || reply.headers['x-clickhouse-exception-code'] !== undefined)
        throw parseError(answer.toString('utf8'));
      return answer;
    },
    close: () => pool.close(),
  };
}

/** Long lists do not fit into a URL. */
function withParams(text: string, params: Read['params'], headers: Record<string, string>) {
  const boundary = `----forecastle-${randomUUID()}`;
  const parts: Record<string, string> = { query: text };
  for (const [name, value] of Object.entries(params)) parts[`param_${name}`] = formatQueryParams({ value });
  return {
    headers: { ...headers, 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: buildMultipartBody(parts, boundary),
  };
}
