import { z } from 'zod';
import { HEAD_STYLE, headOf, ICON } from './docs-theme.ts';
import { SOCKET_ANSWERS, SOCKET_MESSAGES, STREAM_EVENTS } from '../../schemas/stream-events.ts';

interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  prefixItems?: Schema[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
  description?: string;
}
interface Field {
  name: string;
  type: string;
  description: string;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('`', '');

/** A schema prepared for HTML tables: references resolved, fields by dotted name. */
class Shape {
  readonly #root: Schema;

  constructor(schema: z.ZodType) {
    this.#root = z.toJSONSchema(schema) as Schema;
  }

  get description(): string {
    return this.#found(this.#root).description ?? '';
  }

  fields(schema = this.#root, before = ''): Field[] {
    const { properties = {}, required = [] } = this.#found(schema);
    return Object.entries(properties).flatMap(([key, given]) => {
      const found = this.#found(given);
      const name = `${before}${key}`;
      const optional = required.includes(key) ? '' : ', optional';
      const field = { name, type: `${this.#type(given)}${optional}`, description: found.description ?? '' };
      return [field].concat(this.#within(found, name));
    });
  }

  /** The fields inside a field: of an object, of each value of a map, of each item of a list. */
  #within(schema: Schema, name: string): Field[] {
    const { anyOf = [], items, additionalProperties: values, properties } = schema;
    if (properties) return this.fields(schema, `${name}.`);
    if (items) return this.fields(items, `${name}[].`);
    if (typeof values === 'object') return this.fields(values, `${name}.*.`);
    return anyOf.flatMap((one) => this.#within(this.#found(one), name));
  }

  #found(schema: Schema): Schema {
    const name = schema.$ref?.split('/').at(-1);
    const target = name === undefined ? undefined : this.#root.$defs?.[name];
    return target ? { ...this.#found(target), ...schema } : schema;
  }

  #type(given: Schema): string {
    const { const: value, enum: values, anyOf, items, type = 'object' } = this.#found(given);
    if (value !== undefined) return JSON.stringify(value);
    if (values) return values.map((one) => JSON.stringify(one)).join(' · ');
    if (anyOf) return anyOf.map((one) => this.#type(one)).join(' or ');
    return items ? `list of ${this.#type(items)}` : type;
  }
}

function section(id: string, title: string, shape: Shape): string {
  const rows = shape
    .fields()
    .map(
      ({ name, type, description }) =>
        `<tr><td><code>${escaped(name)}</code></td><td>${escaped(type)}</td><td>${escaped(description)}</td></tr>`,
    );
  return `<section id="${id}"><h3><code>${title}</code></h3><p>${escaped(shape.description)}</p>
<div><table><thead><tr><th>Field</th><th>Type</th><th>Meaning</th></tr></thead><tbody>${rows.join('\n')}</tbody></table></div></section>`;
}

const STYLE = `${HEAD_STYLE}:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:0}main{max-width:62rem;margin:2rem auto;padding:0 1rem}
h1,h2,h3{line-height:1.2}h2{margin-top:2.5rem}table{border-collapse:collapse;width:100%}main div{overflow-x:auto}
td,th{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid #8884}td:first-child{white-space:nowrap}
pre{padding:.8rem;overflow-x:auto;background:#8881;border-radius:6px}main nav a{margin-right:.8rem;display:inline-block}`;

const SSE = `id: AR2k…            the cursor, of trade, market and match; send the last one as Last-Event-ID or since
event: trade
data: {"trade_id":"…","market_id":"…","price":0.41,…}`;
const SOCKET = `→ {"op":"auth","key":"pk_…"}                          unless a header had it
→ {"op":"subscribe","id":"a1","channel":"trades"}
← {"op":"subscribed","id":"a1","sid":1}
← {"sid":1,"event":"trade","cursor":"AR2k…","data":{"trade_id":"…",…}}`;

const link = (name: string): string => `<a href="#${name}"><code>${name}</code></a>`;

/** The page /docs/streams, generated from the schemas: events, messages of WebSocket clients, and their answers. */
export function streamsPage(): string {
  const events = Object.entries(STREAM_EVENTS).map(([name, schema]) => section(name, name, new Shape(schema)));
  const messages = Object.entries(SOCKET_MESSAGES).map(([op, schema]) => section(`op-${op}`, op, new Shape(schema)));
  const answers = Object.entries(SOCKET_ANSWERS).map(([op, schema]) => section(`answer-${op}`, op, new Shape(schema)));
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Streams · Forecastle</title><link rel="icon" href="data:image/svg+xml,${encodeURIComponent(ICON)}"><style>${STYLE}</style></head>
<body><header class="site-head">${headOf('/docs/streams')}</header><main><h1>Streams</h1>
<p>The same events as server-sent events at <code>GET /v1/api/stream</code> and over a WebSocket at <code>/v1/api/ws</code>. Data is JSON.
For generators: <a href="/v1/api/asyncapi.json">AsyncAPI 3.0</a>. Everything else: <a href="/docs">API</a>.</p>
<nav aria-label="Events">${Object.keys(STREAM_EVENTS).map(link).join('')}</nav>
<h2>Server-sent events</h2><pre>${escaped(SSE)}</pre>
<h2>WebSocket</h2><pre>${escaped(SOCKET)}</pre>
<h2>Events</h2>${events.join('\n')}
<h2>Messages of a WebSocket client</h2>${messages.join('\n')}
<h2>Answers to a WebSocket client</h2>${answers.join('\n')}
</main></body></html>
`;
}
