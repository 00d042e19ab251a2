import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { systemClock } from '../core/time.ts';

const TAKE_WAITING_MS = 500;
const QUIET_TURNS = 20;
/** Requests that take longer are cut off: the stores close after them, within the time limit of a stop. */
const FINISH_MS = 7000;

/** Time for a connected client to send its request. */
const SILENT_MS = 1000;
const LOOK_MS = 250;

/** Ends connections when the service stops; for the hook before the listener closes. */
export function closesInTime({ server }: Pick<FastifyInstance, 'server'>): () => Promise<void> {
  const openedAt = new Map<Socket, number>();
  server.on('connection', (socket: Socket) => {
    openedAt.set(socket, systemClock.elapsed());
    socket.once('close', () => openedAt.delete(socket));
  });
  // Browsers open connections in advance. Node counts one without a request as busy, and would wait until it times out.
  const endSilent = (): void => {
    for (const [socket, at] of openedAt) {
      if (socket.bytesRead === 0 && systemClock.elapsed() - at > SILENT_MS) socket.destroy();
    }
  };
  return async () => {
    const stopLooking = systemClock.every(LOOK_MS, endSilent);
    const stopWaiting = systemClock.timeout(FINISH_MS, () => server.closeAllConnections());
    server.once('close', () => {
      stopLooking();
      stopWaiting();
    });
    await takeWaiting(server);
    endSilent();
  };
}

/**
 * Drains the accept backlog, one connection per event-loop turn, so that queued connections get 503 instead of a reset, and closes the
 * listener at the end of a turn that brought none: whoever connects between that look and the close is reset.
 */
async function takeWaiting(server: FastifyInstance['server']): Promise<void> {
  let quiet = 0;
  const hear = (): void => void (quiet = 0);
  server.on('connection', hear);
  const beganMs = systemClock.elapsed();
  for (let passedMs = 0; passedMs < 2 * TAKE_WAITING_MS; passedMs = systemClock.elapsed() - beganMs) {
    quiet += 1;
    await new Promise((resolve) => setImmediate(resolve));
    if (quiet >= (passedMs < TAKE_WAITING_MS ? QUIET_TURNS : 1)) break;
  }
  server.close();
  server.off('connection', hear);
}
