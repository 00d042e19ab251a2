import type { FastifyInstance } from 'fastify';

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** JSON bodies only, in valid UTF-8; an empty body counts as none, whatever its content type. Without a route no body is read. */
export function acceptOnlyJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (request.is404) return done(null, undefined);
    let text: string;
    try {
      text = UTF8.decode(body as Buffer);
    } catch {
      return done(Object.assign(new SyntaxError('not UTF-8'), { statusCode: 400 }));
    }
    if (text === '') done(null, undefined);
    else void parse(request, text, done);
  });
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    if (body.length === 0 || request.is404) done(null, undefined);
    else done(Object.assign(new Error('not JSON'), { statusCode: 415 }));
  });
}
