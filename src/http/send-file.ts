import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../core/errors.ts';
import { isUnchanged } from './rendered-answer.ts';

/** An open file, and the ETag of its content. */
interface SentFile {
  handle: FileHandle;
  bytes: number;
  etag: string;
  type: string;
}

const RANGE = /^bytes=(\d*)-(\d*)$/;

/** The range of bytes in a Range header, both ends inclusive; null for all bytes, `outside` if it begins after the end. */
function rangeOf(header: string | undefined, bytes: number): { from: number; to: number } | null | 'outside' {
  const [, first = '', last = ''] = RANGE.exec(header ?? '') ?? [];
  // Several ranges, or an invalid one, get the whole file (RFC 9110 §14.2).
  if (first === '' && last === '') return null;
  if (first === '')
    return last === '0' || bytes === 0 ? 'outside' : { from: Math.max(0, bytes - Number(last)), to: bytes - 1 };
  const to = Math.min(last === '' ? bytes - 1 : Number(last), bytes - 1);
  if (Number(first) >= bytes) return 'outside';
  return Number(first) > to ? null : { from: Number(first), to };
}

/** Sends a file and closes it: the part in Range (206), or 304 if the caller has it. Throws ApiError 416. */
export async function sendFile(request: FastifyRequest, reply: FastifyReply, file: SentFile): Promise<FastifyReply> {
  reply.header('accept-ranges', 'bytes');
  if (isUnchanged(request, reply, file.etag)) {
    await file.handle.close();
    return reply.code(304).send();
  }
  const { range, 'if-range': condition } = request.headers;
  const asked = condition === undefined || condition === file.etag ? range : undefined;
  const part = rangeOf(asked, file.bytes);
  if (part === 'outside') {
    await file.handle.close();
    reply.header('content-range', `bytes */${file.bytes}`);
    throw new ApiError(416, 'Range not satisfiable', {
      resolution: 'Request bytes before the end of the file.',
      errorText: `range: must begin before byte ${file.bytes}, received ${asked}`,
    });
  }
  // Parquet is already compressed, and ranges count its own bytes.
  reply.type(file.type).header('content-encoding', 'identity');
  const { from, to } = part ?? { from: 0, to: file.bytes - 1 };
  reply.header('content-length', to - from + 1);
  if (part) reply.code(206).header('content-range', `bytes ${from}-${to}/${file.bytes}`);
  if (request.method === 'HEAD') {
    await file.handle.close();
    return reply.send(Readable.from([]));
  }
  return reply.send(file.handle.createReadStream({ start: from, end: to }));
}
