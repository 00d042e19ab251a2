import { ApiError } from '../../core/errors.ts';

/** 404: no pair has this id, or no verdict holds for it. */
export const matchNotFound = (id: string): ApiError =>
  new ApiError(404, 'Match not found', {
    resolution: 'GET /v1/api/matches lists all matches. If a text has changed, the verdict is being made again.',
    errorText: `no verdict holds for ${JSON.stringify(id)}`,
  });
