import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** The signature that version 4 asks for of this request, by Amazon's description of it. */
function signatureOf({ method, url = '', headers }: IncomingMessage, secret: string): { given: string; right: string } {
  const [, scope = '', names = '', given = ''] =
    /^AWS4-HMAC-SHA256 Credential=[^/]+\/([^,]+), ?SignedHeaders=([^,]+), ?Signature=(\w+)$/.exec(
      headers.authorization ?? '',
    ) ?? [];
  const [path, query = ''] = url.split('?');
  const lines = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const canonical = [method, path, query, lines.join(''), names, headers['x-amz-content-sha256']].join('\n');
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const key = scope.split('/').reduce((last: string | Buffer, part) => hmac(last, part), `AWS4${secret}`);
  return { given, right: hmac(key, text).toString('hex') };
}

const failure = (code: string, message: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`;

/** A bucket that checks the signature of each request and the hash of each body, as S3 does. */
export async function startSignedBucket(secret: string) {
  const objects = new Map<string, Buffer>();
  const server = createServer(async (request, reply) => {
    const body = await buffer(request);
    const { given, right } = signatureOf(request, secret);
    const path = decodeURIComponent(request.url ?? '');
    const found = objects.get(path);
    const answer = (status: number, content: string | Buffer = '') => reply.writeHead(status).end(content);
    if (given !== right) return answer(403, failure('SignatureDoesNotMatch', 'The signature does not match.'));
    if (sha256(body) !== request.headers['x-amz-content-sha256'])
      return answer(400, failure('XAmzContentSHA256Mismatch', 'The body has another hash.'));
    if (request.method === 'PUT') {
      objects.set(path, body);
      return answer(200);
    }
    return found ? answer(200, found) : answer(404, failure('NoSuchKey', 'The key does not exist.'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
