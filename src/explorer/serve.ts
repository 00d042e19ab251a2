import { Negotiator } from '@fastify/accept-negotiator';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../core/config.ts';
import { ApiError } from '../core/errors.ts';
import { ASSETS, DOCUMENT } from './bundle.ts';
import { explorerSite, type Asset, type Encoding } from './site.ts';

/** Paths of pages. All of them return the same document, whose script routes by path. */
const PAGES = [
  '/',
  '/market/:id',
  '/event/:id',
  '/events',
  '/wallet/:address',
  '/overview',
  '/sql',
  '/status',
  '/account',
];

/** What pages depend on. */
type Served = Pick<Config, 'production' | 'PICTURES'>;

/** No inline scripts or styles, no framing; from other origins the pictures of markets alone, if at all. */
const policyOf = ({ PICTURES }: Served): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    `img-src 'self' data:${PICTURES === 'on' ? ' https:' : ''}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join(';');

const negotiator = new Negotiator<Encoding>({ supportedValues: ['br', 'gzip'] });
const JSON_TYPE = 'application/json';
const PAGE_TYPE = 'text/html';
const types = new Negotiator({ supportedValues: [JSON_TYPE, PAGE_TYPE] });
/** API paths never get the HTML page, because some HTTP libraries prefer text/html by default. */
const API = '/v1/';

/** Serves the explorer: the document at each page's path, and files with hashed names, which are cached as immutable. */
export function explorerRoutes(app: FastifyInstance, config: Served): void {
  const options = { schema: { hide: true }, config: { limit: 'file' } } as const;
  const missing = missingPage(config);
  for (const url of PAGES) {
    app.get(url, options, async (request, reply) => {
      const { id } = request.params as { id?: string };
      // Ids are `<platform>:<platform id>`.
      if (id !== undefined && !id.includes(':')) return missing.send(request, reply);
      return send(request, reply, await pageFor(reply, config));
    });
  }
  app.get(`${ASSETS}:name`, options, async (request, reply) => {
    const { name } = request.params as { name: string };
    const found = name === DOCUMENT ? undefined : (await explorerSite(config.production)).get(name);
    if (!found)
      throw new ApiError(404, 'File not found', {
        resolution: 'Reload the page: it refers to files of an older release.',
      });
    reply.header('cache-control', 'public, max-age=31536000, immutable');
    return send(request, reply, found);
  });
}

/** The document with status 404, for browsers that request an unknown path; its script shows the not-found page. */
export const missingPage = (config: Served) => ({
  wanted: ({ method, url, headers: { accept = '' } }: FastifyRequest): boolean =>
    (method === 'GET' || method === 'HEAD') && !url.startsWith(API) && types.negotiate(accept) === PAGE_TYPE,
  send: async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const page = await pageFor(reply, config);
    reply.header('vary', 'accept, accept-encoding');
    return sendBody(request, reply.code(404), page);
  },
});

async function pageFor(reply: FastifyReply, config: Served): Promise<Asset> {
  const page = (await explorerSite(config.production)).get(DOCUMENT);
  if (!page) throw new Error('The bundle has no document');
  reply.header('content-security-policy', policyOf(config)).header('cache-control', 'no-cache');
  return page;
}

function send(request: FastifyRequest, reply: FastifyReply, asset: Asset): FastifyReply {
  reply.header('etag', asset.etag).header('vary', 'accept-encoding');
  if (request.headers['if-none-match']?.includes(asset.etag)) return reply.code(304).send();
  return sendBody(request, reply, asset);
}

function sendBody(request: FastifyRequest, reply: FastifyReply, { type, plain, packed }: Asset): FastifyReply {
  const accepted = request.headers['accept-encoding'];
  const encoding = accepted === undefined ? null : negotiator.negotiate(accepted);
  if (encoding !== null) reply.header('content-encoding', encoding);
  return reply.type(type).send(encoding === null ? plain : packed[encoding]);
}
