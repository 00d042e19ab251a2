/** A refusal of the CLOB; the body is always {"error": message}. */
export class ClobError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
