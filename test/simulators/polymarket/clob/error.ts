/** A refusal of the CLOB; the body is always {"error": message}. */
export class ClobError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** A failure inside the platform, by whose words 404, 401 or 400 replaces its status. */
export function innerFailure(words: string): ClobError {
  if (words.includes('not found')) return new ClobError(404, words);
  if (words.includes('unauthorized')) return new ClobError(401, words);
  return new ClobError(words.includes('context canceled') ? 400 : 500, words);
}
