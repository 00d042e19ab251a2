import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { listText } from '../core/text.ts';
import { COLUMNAR_TYPES, type ColumnarFormat } from './columnar.ts';

/** How the rows of a list are written. */
export type Format = 'json' | 'csv' | 'ndjson' | ColumnarFormat;

const FORMATS: ReadonlyMap<string, Format> = new Map([
  ['application/json', 'json'],
  ['text/csv', 'csv'],
  ['application/x-ndjson', 'ndjson'],
  [COLUMNAR_TYPES.Parquet, 'Parquet'],
  [COLUMNAR_TYPES.ArrowStream, 'ArrowStream'],
  ['application/*', 'json'],
  ['*/*', 'json'],
]);

/** The words of `format`, which are also the extensions of the files that browsers save. */
const WORDS = { json: 'json', csv: 'csv', ndjson: 'ndjson', parquet: 'Parquet', arrow: 'ArrowStream' } as const;
type Word = keyof typeof WORDS;
const NAMES = Object.keys(WORDS) as Word[];

/** The query parameter `format` of lists, for links: a browser sends no Accept of its own choice. */
export const formatParam = () =>
  z
    .enum(NAMES, { error: `one of ${listText(NAMES, 'or')}` })
    .optional()
    .describe(`${listText(NAMES, 'or')}: the same as Accept, before which it counts`);

/** The word of the query; null without one. */
export function formatWord({ query }: Pick<FastifyRequest, 'query'>): Word | null {
  const { format } = query as { format?: unknown };
  const given: unknown = Array.isArray(format) ? format[0] : format;
  return NAMES.find((word) => word === given) ?? null;
}

/** The format that the caller asks for: by the query, else by Accept. */
export function formatOf(request: Pick<FastifyRequest, 'query' | 'headers'>): Format {
  const word = formatWord(request);
  return word === null ? wantedFormat(request.headers.accept) : WORDS[word];
}

/** The format the caller prefers (RFC 9110 §12.5.1); of equal ones the first that is named itself, JSON if none is. */
export function wantedFormat(accept = ''): Format {
  if (!/csv|ndjson|apache/i.test(accept)) return 'json';
  const ranges = accept.split(',').flatMap((range) => {
    const [type = '', ...parameters] = range.toLowerCase().replaceAll(/\s/g, '').split(';');
    const weight = Number(parameters.find((one) => one.startsWith('q='))?.slice(2) ?? 1);
    const format = FORMATS.get(type);
    return format && weight > 0 ? [{ format, rank: weight + (type.endsWith('*') ? 0 : 0.0001) }] : [];
  });
  return ranges.toSorted((a, b) => b.rank - a.rank)[0]?.format ?? 'json';
}
