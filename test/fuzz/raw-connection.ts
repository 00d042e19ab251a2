import { connect, type Socket } from 'node:net';

/** One answer as it came; `status` 0 where the connection closed without one. */
export interface RawReply {
  status: number;
  /** By name in lower case; values of a repeated one are lines. */
  headers: Record<string, string>;
  body: string;
}

export class Unanswered extends Error {}

const NO_BODY = new Set([204, 304]);

/** A socket that sends bytes as they are given, and reads the one answer that follows them. */
export class RawConnection {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #ended = false;
  #wake: () => void = () => {};

  /** `from` is an address of this machine: 127.x.y.z are many callers. */
  constructor(port: number, from = '127.0.0.1') {
    this.#socket = connect({ port, host: '127.0.0.1', localAddress: from, noDelay: true });
    this.#socket.on('data', (bytes) => {
      this.#received = Buffer.concat([this.#received, bytes]);
      this.#wake();
    });
    for (const end of ['end', 'error', 'close'] as const) {
      this.#socket.on(end, () => {
        this.#ended = true;
        this.#wake();
      });
    }
  }

  /** Whether another request may follow. */
  get open(): boolean {
    return !this.#ended && this.#socket.writable;
  }

  /** Sends a request; throws Unanswered when neither an answer nor an end comes within `withinMs`. */
  async ask(request: string | Buffer, withinMs: number): Promise<RawReply> {
    const headOnly = Buffer.from(request).toString('latin1').startsWith('HEAD ');
    this.#received = Buffer.alloc(0);
    this.#socket.write(request);
    const deadline = performance.now() + withinMs;
    for (;;) {
      const reply = readReply(this.#received, headOnly, this.#ended);
      if (reply !== null) {
        if (reply.headers['connection'] === 'close') this.close();
        return reply;
      }
      if (this.#ended) return { status: 0, headers: {}, body: this.#received.toString('latin1') };
      const left = deadline - performance.now();
      if (left <= 0) throw new Unanswered(`no answer within ${withinMs} ms`);
      await this.#more(left);
    }
  }

  close(): void {
    this.#ended = true;
    this.#socket.destroy();
  }

  #more(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, withinMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** The first whole answer of these bytes, null while it is not whole; interim answers are left out. */
function readReply(bytes: Buffer, headOnly: boolean, ended: boolean): RawReply | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const [line = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(line)?.[1] ?? 0);
  if (status > 0 && status < 200) return readReply(bytes.subarray(end + 4), headOnly, ended);
  const headers: Record<string, string> = {};
  for (const header of lines) {
    const [name = '', value = ''] = header.split(/: ?(.*)/s);
    const earlier = headers[name.toLowerCase()];
    headers[name.toLowerCase()] = earlier === undefined ? value : `${earlier}\n${value}`;
  }
  const body = headOnly || NO_BODY.has(status) ? '' : readBody(bytes.subarray(end + 4), headers, ended);
  return body === null ? null : { status, headers, body };
}

function readBody(bytes: Buffer, headers: Record<string, string>, ended: boolean): string | null {
  if (headers['transfer-encoding'] === 'chunked') return readChunks(bytes);
  const length = headers['content-length'];
  if (length === undefined) return ended ? bytes.toString() : null;
  return bytes.length < Number(length) ? null : bytes.toString('utf8', 0, Number(length));
}

function readChunks(bytes: Buffer): string | null {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const line = bytes.indexOf('\r\n', at);
    if (line < 0) return null;
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16);
    if (size === 0) return Buffer.concat(parts).toString();
    if (bytes.length < line + 2 + size + 2) return null;
    parts.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}
