import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, type BrotliOptions } from 'node:zlib';
import { Negotiator } from '@fastify/accept-negotiator';

export type Encoding = 'br' | 'gzip';
const ENCODINGS: Encoding[] = ['br', 'gzip'];

/** Shorter bodies are not worth it. */
export const ENCODED_FROM_BYTES = 1024;
const BROTLI: BrotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/** For @fastify/compress, which compresses what is sent once; what is sent again and again is kept compressed, by the same rules. */
export const COMPRESSION = {
  encodings: ENCODINGS,
  threshold: ENCODED_FROM_BYTES,
  // Bodies are small and come as they are.
  globalDecompression: false,
  brotliOptions: BROTLI,
};

const negotiator = new Negotiator<Encoding>({ supportedValues: ENCODINGS });

/** What an Accept-Encoding header prefers; null for nothing that is offered. */
export const preferredEncoding = (accepted: string | undefined): Encoding | null =>
  accepted === undefined ? null : negotiator.negotiate(accepted);

const brotli = promisify<Buffer, BrotliOptions, Buffer>(brotliCompress);
const zip = promisify<Buffer, Buffer>(gzip);

/** The body in an encoding. */
export const encoded = (body: Buffer, encoding: Encoding): Promise<Buffer> =>
  encoding === 'br' ? brotli(body, BROTLI) : zip(body);
