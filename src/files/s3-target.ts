import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { AwsClient } from 'aws4fetch';
import { request } from 'undici';
import { systemClock } from '../core/time.ts';
import { ConfigError } from '../core/config-error.ts';
import { retry, waits } from '../core/retry.ts';
import { MANIFEST } from './manifest.ts';
import type { FileTarget } from './target.ts';

const TIMEOUT_MS = 600_000;
/** Waits before retries of a call that S3 did not answer, or answered with SlowDown or a server error. */
const RETRY_WAITS_MS = [500, 2000, 5000, 15_000];
const EMPTY_SHA256 = createHash('sha256').digest('hex');

/** The code and message of an S3 error, on one line. */
function reasonOf(text: string): string {
  const [code, message] = ['Code', 'Message'].map((name) => new RegExp(`<${name}>([^<]*)<`).exec(text)?.[1]);
  return (code ? `${code}: ${message ?? ''}` : text).slice(0, 300).replaceAll(/\s+/g, ' ').trim();
}

/**
 * Advice on a rejected read of an object that may not exist: without s3:ListBucket, S3 answers 403 instead of 404. It is not
 * treated as a new bucket: without the manifest, revisions would start at 1 again.
 */
const adviceOn = ({ status, text }: { status: number; text: string }, { missing }: Sent): string =>
  missing && status === 403 && text.includes('AccessDenied')
    ? '. Allow the key s3:GetObject on the objects and s3:ListBucket on the bucket: without it S3 answers 403 for objects that do not exist'
    : '';

/** S3 answered with a status that no later attempt changes. */
class RefusedError extends Error {}

/** A body with its hash and length; `missing`: whether 404 is accepted. */
interface Sent {
  /** Called for each attempt. */
  body?: () => Buffer | Readable;
  sha256?: string;
  bytes?: number;
  missing?: boolean;
}

/**
 * A bucket, `s3://bucket/prefix`. Keys and region come from the standard variables: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
 * AWS_SESSION_TOKEN, AWS_REGION; AWS_ENDPOINT_URL names a server other than Amazon's.
 */
export function s3Target(url: string, env: NodeJS.ProcessEnv): FileTarget {
  const [, bucket = '', prefix = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/?(.*)$/.exec(url) ?? [];
  if (bucket === '' || prefix.split('/').some((part) => part === '.' || part === '..'))
    throw new ConfigError(`--to: must be s3://bucket or s3://bucket/prefix, received ${JSON.stringify(url)}`);
  const variable = (name: string): string => {
    const value = env[name];
    if (!value) throw new ConfigError(`${name}: must be set to write to ${url}`);
    return value;
  };
  const region = env['AWS_REGION'] || 'us-east-1';
  const client = new AwsClient({
    accessKeyId: variable('AWS_ACCESS_KEY_ID'),
    secretAccessKey: variable('AWS_SECRET_ACCESS_KEY'),
    ...(env['AWS_SESSION_TOKEN'] ? { sessionToken: env['AWS_SESSION_TOKEN'] } : {}),
    service: 's3',
    region,
  });
  const endpoint = env['AWS_ENDPOINT_URL']?.replace(/\/+$/, '') || `https://s3.${region}.amazonaws.com`;
  const address = (path: string): string =>
    `${endpoint}/${bucket}/${[...prefix.split('/'), ...path.split('/')].filter(Boolean).map(encodeURIComponent).join('/')}`;

  /** A call signed together with the hash of its body. Throws on any status but 2xx, or 404 if `missing`. */
  async function call(method: 'GET' | 'PUT', path: string, sent: Sent = {}): Promise<string | null> {
    const url = address(path);
    const step = async (): Promise<string | null> => {
      const reply = await once(method, url, sent);
      if (sent.missing && reply.status === 404 && !reply.text.includes('NoSuchBucket')) return null;
      if (reply.status < 300) return reply.text;
      const text = `${method} ${url} answered ${reply.status} ${reasonOf(reply.text)}${adviceOn(reply, sent)}`;
      throw reply.status >= 500 || reply.status === 429 ? new Error(text) : new RefusedError(text);
    };
    const waitMs = waits(RETRY_WAITS_MS, (error) => !(error instanceof RefusedError));
    return retry(step, { waitMs, sleep: systemClock.sleep });
  }

  async function once(method: 'GET' | 'PUT', url: string, { body, sha256 = EMPTY_SHA256, bytes = 0 }: Sent) {
    const signed = await client.sign(url, { method, headers: { 'x-amz-content-sha256': sha256 } });
    const headers = { ...Object.fromEntries(signed.headers), ...(body ? { 'content-length': String(bytes) } : {}) };
    const options = { method, headers, body: body?.() ?? null, signal: systemClock.deadline(TIMEOUT_MS) };
    const reply = await request(url, options);
    return { status: reply.statusCode, text: await reply.body.text() };
  }

  return {
    keepsPrevious: false,
    readManifest: () => call('GET', MANIFEST, { missing: true }),
    async writeManifest(text) {
      const body = Buffer.from(text);
      const sha256 = createHash('sha256').update(body).digest('hex');
      await call('PUT', MANIFEST, { body: () => body, sha256, bytes: body.length });
    },
    // S3 shows an object once it has arrived completely and its hash matches.
    async put({ path, bytes, sha256 }, local) {
      await call('PUT', path, { body: () => createReadStream(local), sha256, bytes });
    },
  };
}
