import { z } from 'zod';

/** The error body of every route, for OpenAPI. */
export const ErrorAnswer = z
  .object({
    error: z
      .object({
        status: z.int().describe('HTTP status code'),
        message: z.string().describe('What went wrong'),
        resolution: z.string().describe('What to do about it'),
        error_text: z.string().describe('Details; on 400 every failing field with the rule and the value received'),
      })
      .describe('What went wrong'),
  })
  .meta({ id: 'ErrorAnswer', description: 'Body of all 4xx and 5xx responses except the 503 of /health' });
