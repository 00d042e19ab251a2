import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

const TAKE_WAITING_MS = 500;
const QUIET_TURNS = 20;
/** Requests that take longer are cut off: the stores close after them, within the time that a stop may take. */
const FINISH_MS = 7000;

/** A client that has connected sends its request within this. */
const SILENT_MS = 1000;
const LOOK_MS = 250;

/** What a stop does to connections, for the hook before the listener closes. */
export function closesInTime({ server }: Pick<FastifyInstance, 'server'>): () => Promise<void> {
  const openedAt = new Map<Socket, number>();
  server.on('connection', (socket: Socket) => {
    openedAt.set(socket, performance.now());
    socket.once('close', () => openedAt.delete(socket));
  });
  // Browsers open connections ahead. Node takes one that has sent nothing for busy, and would wait until it times out.
  const endSilent = (): void => {
    for (const [socket, at] of openedAt) {
      if (socket.bytesRead === 0 && performance.now() - at > SILENT_MS) socket.destroy();
    }
  };
  return async () => {
    await takeWaiting(server);
    endSilent();
    const looking = setInterval(endSilent, LOOK_MS).unref();
    const late = setTimeout(() => server.closeAllConnections(), FINISH_MS).unref();
    server.once('close', () => {
      clearInterval(looking);
      clearTimeout(late);
    });
  };
}

/** A listener that closes resets connections the system holds for it: takes them first, one a turn of the loop, to answer them 503. */
async function takeWaiting(server: FastifyInstance['server']): Promise<void> {
  let quiet = 0;
  const hear = (): void => void (quiet = 0);
  server.on('connection', hear);
  for (const end = performance.now() + TAKE_WAITING_MS; quiet < QUIET_TURNS && performance.now() < end; quiet += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  server.off('connection', hear);
}
