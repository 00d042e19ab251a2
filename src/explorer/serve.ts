import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, type BrotliOptions } from 'node:zlib';
import { Negotiator } from '@fastify/accept-negotiator';
import { build, stop, type OutputFile } from 'esbuild';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../core/errors.ts';

const ROOM = fileURLToPath(new URL('.', import.meta.url));
/** Addresses of pages: all are the one document, which reads its own address. */
const PAGES = ['/', '/market/:id', '/event/:id', '/overview', '/sql', '/status', '/account'];
const ASSETS = '/explorer/';

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

type Encoding = 'br' | 'gzip';
interface Asset {
  type: string;
  etag: string;
  plain: Buffer;
  packed: Record<Encoding, Buffer>;
}
interface Site {
  page: Asset;
  assets: ReadonlyMap<string, Asset>;
}

const brotli = promisify<Buffer, BrotliOptions, Buffer>(brotliCompress);
const gzipped = promisify<Buffer, Buffer>(gzip);
/** Of the best quality's size within 3 %, in a fifth of its time. */
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
const negotiator = new Negotiator<Encoding>({ supportedValues: ['br', 'gzip'] });
const TYPES = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
};

async function asset(type: keyof typeof TYPES, plain: Buffer): Promise<Asset> {
  const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 27)}"`;
  const [br, gz] = await Promise.all([brotli(plain, QUALITY), gzipped(plain)]);
  return { type: TYPES[type], etag, plain, packed: { br, gzip: gz } };
}

const nameOf = ({ path }: OutputFile): string => path.slice(path.lastIndexOf('/') + 1);

/** Bundles the pages in memory: hashed names, a chunk for each page, each compressed once. */
async function bundle(): Promise<Site> {
  const { outputFiles } = await build({
    absWorkingDir: ROOM,
    entryPoints: { main: 'parts/main.tsx', style: 'parts/style.css' },
    outdir: 'out',
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    logLevel: 'silent',
  });
  // Its process would wait for the next build, which never comes.
  await stop();
  const assets = await Promise.all(
    outputFiles.map(async (file): Promise<[string, Asset]> => {
      const name = nameOf(file);
      return [name, await asset(name.endsWith('.css') ? 'css' : 'js', Buffer.from(file.contents))];
    }),
  );
  const entry = (name: string, end: string): string =>
    `${ASSETS}${assets.find(([file]) => file.startsWith(`${name}-`) && file.endsWith(end))?.[0] ?? ''}`;
  const html = readFileSync(join(ROOM, 'index.html'), 'utf8')
    .replace('{{style}}', entry('style', '.css'))
    .replace('{{main}}', entry('main', '.js'));
  return { page: await asset('html', Buffer.from(html)), assets: new Map(assets) };
}

let made: { stamp: string; site: Promise<Site> } | undefined;

/** The pages as they are on disk: bundled once, and again when a file was changed outside production. */
export function explorerSite(production: boolean): Promise<Site> {
  const stamp = production ? '' : newestChange();
  if (made?.stamp === stamp) return made.site;
  const site = bundle();
  made = { stamp, site };
  site.catch(() => (made = undefined));
  return site;
}

function newestChange(): string {
  const files = readdirSync(ROOM, { recursive: true, encoding: 'utf8' });
  return `${files.length} ${Math.max(...files.map((name) => statSync(join(ROOM, name)).mtimeMs))}`;
}

/** Serves the explorer: its document at each page's address, its hashed files for ever. */
export function explorerRoutes(app: FastifyInstance, { production }: { production: boolean }): void {
  const schema = { hide: true };
  for (const url of PAGES) {
    app.get(url, { schema }, async (request, reply) => {
      const { page } = await explorerSite(production);
      reply.header('content-security-policy', POLICY).header('cache-control', 'no-cache');
      return send(request, reply, page);
    });
  }
  app.get(`${ASSETS}:name`, { schema }, async (request, reply) => {
    const { assets } = await explorerSite(production);
    const found = assets.get((request.params as { name: string }).name);
    if (!found) throw new ApiError(404, 'No such file', { resolution: 'Open / : files are named by their content.' });
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
