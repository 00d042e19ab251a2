import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, type BrotliOptions } from 'node:zlib';
import { Negotiator } from '@fastify/accept-negotiator';

export type Encoding = 'br' | 'gzip';
const ENCODINGS: Encoding[] = ['br', 'gzip'];

/** Shorter bodies are sent uncompressed. */
export const ENCODED_FROM_BYTES = 1024;
const BROTLI: BrotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/** For @fastify/compress, which handles one-time answers; cached answers are kept compressed, by the same rules. */
export const COMPRESSION = {
  encodings: ENCODINGS,
  threshold: ENCODED_FROM_BYTES,
  // Request bodies are small and uncompressed.
  globalDecompression: false,
  brotliOptions: BROTLI,
};

const negotiator = new Negotiator<Encoding>({ supportedValues: ENCODINGS });

/** The preferred encoding of an Accept-Encoding header; null if none of ours is accepted. */
export const preferredEncoding = (accepted: string | undefined): Encoding | null =>
  accepted === undefined ? null : negotiator.negotiate(accepted);

const brotli = promisify<Buffer, BrotliOptions, Buffer>(brotliCompress);
const zip = promisify<Buffer, Buffer>(gzip);

/** The body in an encoding. */
export const encoded = (body: Buffer, encoding: Encoding): Promise<Buffer> =>
  encoding === 'br' ? brotli(body, BROTLI) : zip(body);
