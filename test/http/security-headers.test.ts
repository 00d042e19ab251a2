import helmet from 'helmet';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { DATA_HEADERS, PAGE_HEADERS } from '../../src/http/security-headers.ts';

/** The headers of an answer that helmet has worked on. */
function headersOfHelmet(): Record<string, unknown> {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const guard = helmet({
    contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } },
    crossOriginResourcePolicy: { policy: 'same-site' },
  });
  guard(response.req, response, () => {});
  return { ...response.getHeaders() };
}

test('the headers of pages are helmet’s, save for requests over plain http and from the same site', () => {
  expect(PAGE_HEADERS).toEqual(headersOfHelmet());
});

test('data has the same headers where it has them, and a stricter content policy', () => {
  const { 'content-security-policy': policy, ...others } = DATA_HEADERS;
  expect(PAGE_HEADERS).toMatchObject(others);
  expect(policy).toBe("default-src 'none';frame-ancestors 'none'");
});
