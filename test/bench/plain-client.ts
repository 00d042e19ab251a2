import type { Socket } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');

/** A request of an API path as plain text; `key` undefined for none. */
export const requestText = (path: string, key: string | undefined): string =>
  `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${key === undefined ? '' : `x-api-key: ${key}\r\n`}\r\n`;

/**
 * Asks over one connection, which stays open, what `next` says until it says null: a client that does no more than count the bytes
 * of an answer, as the server is what is measured. Resolves with the number of whole answers; anything but 200, and a connection that
 * ends, rejects.
 */
export function askThrough(socket: Socket, next: () => string | null): Promise<number> {
  return new Promise((resolve, reject) => {
    let done = 0;
    let head: Buffer | null = Buffer.alloc(0);
    let left = 0;
    const gone = (): void => reject(new Error('the connection ended'));
    const stop = (): void => {
      socket.off('data', read).off('error', reject).off('close', gone);
      resolve(done);
    };
    const read = (chunk: Buffer): void => {
      if (head !== null) {
        head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
        const at = head.indexOf(HEAD_END);
        if (at < 0) return;
        const text = head.toString('latin1', 0, at);
        const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1];
        if (!text.startsWith('HTTP/1.1 200') || length === undefined) return reject(new Error(text.slice(0, 300)));
        left = Number(length) - (head.length - at - HEAD_END.length);
        head = null;
      } else {
        left -= chunk.length;
      }
      if (left > 0) return;
      done += 1;
      head = Buffer.alloc(0);
      const request = next();
      if (request === null) stop();
      else socket.write(request);
    };
    socket.setNoDelay(true).on('error', reject).on('close', gone).on('data', read);
    const first = next();
    if (first === null) stop();
    else socket.write(first);
  });
}
