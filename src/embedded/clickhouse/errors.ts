/** ClickHouse's error codes that the SQL port raises or translates itself. */
const CODES = {
  BAD_ARGUMENTS: 36,
  UNKNOWN_FUNCTION: 46,
  NOT_IMPLEMENTED: 48,
  UNKNOWN_TABLE: 60,
  SYNTAX_ERROR: 62,
  UNKNOWN_FORMAT: 73,
  UNKNOWN_DATABASE: 81,
  UNKNOWN_SETTING: 115,
  TIMEOUT_EXCEEDED: 159,
  READONLY: 164,
  TOO_MANY_SIMULTANEOUS_QUERIES: 202,
  MEMORY_LIMIT_EXCEEDED: 241,
  ALL_CONNECTION_TRIES_FAILED: 279,
  TOO_MANY_BYTES: 307,
  ACCESS_DENIED: 497,
  AUTHENTICATION_FAILED: 516,
} as const;

/** A failure in ClickHouse's format: `Code: N. DB::Exception: … (NAME)`. */
export class EngineError extends Error {
  override name = 'EngineError';
  readonly code: number;

  constructor(code: number, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }

  static of(name: keyof typeof CODES, text: string, cause?: unknown): EngineError {
    return new EngineError(CODES[name], `Code: ${CODES[name]}. DB::Exception: ${text} (${name})`, cause);
  }

  /** From the text of an answer; 1001 (STD_EXCEPTION) if it contains no code. */
  static read(text: string): EngineError {
    const message = text.trimEnd().replace(/ \(version [^()]*\)$/, '');
    const code = /Code: (\d+)/.exec(message)?.[1];
    if (code) return new EngineError(Number(code), message);
    return new EngineError(1001, `Code: 1001. DB::Exception: ${message} (STD_EXCEPTION)`);
  }

  /** Any other failure is one of this process. */
  static from(error: unknown): EngineError {
    if (error instanceof EngineError) return error;
    return EngineError.read(error instanceof Error ? error.message : String(error));
  }
}

const NOT_FOUND: ReadonlySet<number> = new Set([
  CODES.UNKNOWN_TABLE,
  CODES.UNKNOWN_FORMAT,
  CODES.UNKNOWN_DATABASE,
  CODES.UNKNOWN_SETTING,
]);

/** Errors that no statement causes: files, memory, threads, network, parts, faults; also timeouts, as on a busy machine. */
const SERVER_TROUBLE = new Set([
  23, 24, 40, 49, 74, 75, 76, 77, 87, 88, 95, 96, 107, 109, 110, 114, 159, 160, 172, 173, 204, 209, 210, 214, 225, 226,
  227, 228, 231, 232, 236, 239, 240, 243, 244, 246, 252, 294, 384, 394, 400, 411, 425, 439, 458, 459, 468, 473, 531,
  586, 677, 696, 734, 735, 738, 745, 757, 771, 777, 778, 999, 1000, 1001, 1002,
]);

/**
 * The HTTP status of a failure: 400 if the caller's statement was wrong or asked for too much, 500 and up for errors of the
 * server. A ClickHouse server answers 500 for most of both; clients rely on the code.
 */
export function httpStatus({ code, message }: EngineError): number {
  if (NOT_FOUND.has(code)) return 404;
  if (SERVER_TROUBLE.has(code)) return 500;
  switch (code) {
    case CODES.ACCESS_DENIED:
    case CODES.AUTHENTICATION_FAILED:
      return 403;
    case CODES.TOO_MANY_BYTES:
      return 413;
    case CODES.NOT_IMPLEMENTED:
      return 501;
    case CODES.TOO_MANY_SIMULTANEOUS_QUERIES:
    case CODES.ALL_CONNECTION_TRIES_FAILED:
      return 503;
    case CODES.MEMORY_LIMIT_EXCEEDED:
      // The memory limit of one query, or of all queries.
      return message.includes('(total)') ? 500 : 400;
    default:
      return 400;
  }
}
