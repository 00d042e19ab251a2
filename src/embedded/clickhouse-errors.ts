/** ClickHouse's error codes that the embedded server raises or translates itself. */
export const CODES = {
  BAD_ARGUMENTS: 36,
  NOT_IMPLEMENTED: 48,
  UNKNOWN_TABLE: 60,
  SYNTAX_ERROR: 62,
  UNKNOWN_FORMAT: 73,
  UNKNOWN_DATABASE: 81,
  UNKNOWN_SETTING: 115,
  TIMEOUT_EXCEEDED: 159,
  READONLY: 164,
  TOO_MANY_SIMULTANEOUS_QUERIES: 202,
  TOO_MANY_BYTES: 307,
  UNKNOWN_QUERY_PARAMETER: 456,
  ACCESS_DENIED: 497,
  AUTHENTICATION_FAILED: 516,
} as const;

/** A failure in ClickHouse's own words: `Code: N. DB::Exception: … (NAME)`. */
export class EngineError extends Error {
  override name = 'EngineError';
  readonly code: number;

  constructor(code: number, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }

  static of(name: keyof typeof CODES, text: string): EngineError {
    return new EngineError(CODES[name], `Code: ${CODES[name]}. DB::Exception: ${text} (${name})`);
  }

  /** From whatever the binding threw; 1001 (STD_EXCEPTION) where it names no code. */
  static from(error: unknown): EngineError {
    if (error instanceof EngineError) return error;
    const message = error instanceof Error ? error.message : String(error);
    const code = /Code: (\d+)/.exec(message)?.[1];
    if (code) return new EngineError(Number(code), message, error);
    return new EngineError(1001, `Code: 1001. DB::Exception: ${message} (STD_EXCEPTION)`, error);
  }
}

const BAD_REQUEST = new Set([6, 25, 26, 27, 36, 38, 41, 47, 53, 62, 69, 72, 117, 158, 167, 168, 456, 457]);
const NOT_FOUND = new Set([16, 46, 50, 56, 60, 73, 81, 115, 173]);

/** The HTTP status that ClickHouse's HTTP interface answers an error code with. */
export function httpStatus(code: number): number {
  if (BAD_REQUEST.has(code)) return 400;
  if (NOT_FOUND.has(code)) return 404;
  switch (code) {
    case CODES.ACCESS_DENIED:
    case CODES.AUTHENTICATION_FAILED:
      return 403;
    case CODES.TOO_MANY_BYTES:
      return 413;
    case CODES.NOT_IMPLEMENTED:
      return 501;
    case CODES.TOO_MANY_SIMULTANEOUS_QUERIES:
      return 503;
    default:
      return 500;
  }
}
