import { Negotiator } from '@fastify/accept-negotiator';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../core/errors.ts';
import { ASSETS, DOCUMENT } from './bundle.ts';
import { explorerSite, type Asset, type Encoding } from './site.ts';

/** Addresses of pages: all are the one document, which reads its own address. */
const PAGES = ['/', '/market/:id', '/event/:id', '/overview', '/sql', '/status', '/account'];

/** Nothing inline, nothing from another origin, no frame around it. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join(';');

const negotiator = new Negotiator<Encoding>({ supportedValues: ['br', 'gzip'] });

/** Serves the explorer: its document at each page's address, its hashed files for ever. */
export function explorerRoutes(app: FastifyInstance, { production }: { production: boolean }): void {
  const options = { schema: { hide: true }, config: { limit: 'file' } } as const;
  for (const url of PAGES) {
    app.get(url, options, async (request, reply) => {
      const page = (await explorerSite(production)).get(DOCUMENT);
      if (!page) throw new Error('The bundle has no document');
      reply.header('content-security-policy', POLICY).header('cache-control', 'no-cache');
      return send(request, reply, page);
    });
  }
  app.get(`${ASSETS}:name`, options, async (request, reply) => {
    const { name } = request.params as { name: string };
    const found = name === DOCUMENT ? undefined : (await explorerSite(production)).get(name);
    if (!found)
      throw new ApiError(404, 'File not found', {
        resolution: 'Reload the page: it refers to files of an older release.',
      });
    reply.header('cache-control', 'public, max-age=31536000, immutable');
    return send(request, reply, found);
  });
}

function send(request: FastifyRequest, reply: FastifyReply, { type, etag, plain, packed }: Asset): FastifyReply {
  reply.header('etag', etag).header('vary', 'accept-encoding');
  if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send();
  const accepted = request.headers['accept-encoding'];
  const encoding = accepted === undefined ? null : negotiator.negotiate(accepted);
  if (encoding !== null) reply.header('content-encoding', encoding);
  return reply.type(type).send(encoding === null ? plain : packed[encoding]);
}
