import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';

const part = (name: string): string => readFileSync(new URL(`reset-page/${name}`, import.meta.url), 'utf8');

/** The target of reset links: a form that sends the token and the new password to POST /v1/api/auth/password/reset. */
export function resetPage(app: FastifyInstance): void {
  const page = part('page.html');
  const script = part('form.js');
  const schema = { hide: true };
  app.get('/reset-password', { schema }, (_request, reply) => reply.type('text/html; charset=utf-8').send(page));
  app.get('/reset-password.js', { schema }, (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').send(script),
  );
}
