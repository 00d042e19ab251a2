import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { ApiError } from '../core/errors.ts';
import { textParam } from '../core/fields.ts';
import { DATASETS } from '../files/datasets.ts';
import { findFile, storedFiles } from '../files/stored-files.ts';
import { answerStored } from '../http/cached-answer.ts';
import { endpoint } from '../http/endpoint.ts';
import { sendFile } from '../http/send-file.ts';
import { FilesAnswer } from '../schemas/files.ts';
import { enumParam, integerParam, optionalPlatformParam, timestampParam } from '../schemas/parameters.ts';
import type { Services } from './services.ts';
import { dayOf } from '../core/time.ts';

const MOST_REVISIONS = 1_000_000_000;

/** GET files, files/{path}. */
export function fileRoutes(app: FastifyInstance, services: Services): void {
  const { config } = services;

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/files',
      auth: 'key',
      tag: 'Files',
      operation: 'listFiles',
      summary: 'List Parquet day files',
      description: 'One file for each dataset, platform and UTC day. Files of the current day grow with each revision.',
      query: {
        dataset: enumParam(DATASETS).optional().describe(DATASETS.join(', ')),
        platform: optionalPlatformParam(),
        from: timestampParam()
          .optional()
          .describe('Only UTC days from this one on: a day, Unix seconds, milliseconds or ISO-8601'),
        to: timestampParam()
          .optional()
          .describe('Only UTC days up to this one, inclusive: a day, Unix seconds, milliseconds or ISO-8601'),
      },
      stored: 'rows',
      answer: FilesAnswer,
    },
    (call) => {
      const { query } = call;
      const { dataset, platform, from = 0, to = Infinity } = query;
      return answerStored(services, call, {}, async () => {
        const stored = await storedFiles(config.dataDir, platform ? [platform] : config.platforms);
        const listed = stored.files.filter(
          (file) =>
            (!dataset || file.dataset === dataset) &&
            file.date >= dayOf(from) &&
            (to === Infinity || file.date <= dayOf(to)),
        );
        return {
          body: { files: listed.map(({ content: _content, previous: _previous, ...file }) => file) },
          meta: { platforms: stored.platforms },
          rows: 'files',
        };
      });
    },
  );

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/files/:dataset/:platform/:date/:file',
      auth: 'key',
      tag: 'Files',
      operation: 'getFile',
      summary: 'One Parquet day file',
      description:
        'The path as listed by GET files. Range, If-Range and If-None-Match are supported; the ETag is the SHA-256. A revision never changes; the previous one stays readable with `revision` until the next one.',
      params: {
        dataset: textParam().describe('dataset=<name>'),
        platform: textParam().describe('platform=<name>'),
        date: textParam().describe('date=<UTC day>'),
        file: textParam().describe('part-0.parquet'),
      },
      query: {
        revision: integerParam(1, MOST_REVISIONS)
          .optional()
          .describe('Number of the revision: the newest (default), or the one before it'),
      },
      stored: 'file',
      statuses: [200, 206],
      errors: [416],
      answer: z.unknown(),
    },
    async ({ params, query, request, reply }) => {
      const path = [params.dataset, params.platform, params.date, params.file].join('/');
      const file = await findFile(config.dataDir, config.platforms, path, query.revision);
      if (!file) {
        throw new ApiError(404, 'File not found', {
          resolution: 'GET /v1/api/files lists all files.',
          errorText: `no file ${JSON.stringify(path)}${query.revision === undefined ? '' : ` of revision ${query.revision}`}`,
        });
      }
      return sendFile(request, reply, { ...file, etag: `"${file.sha256}"`, type: 'application/vnd.apache.parquet' });
    },
  );
}
