import type { Clock } from '../../../core/time.ts';
import { BadFrame, type SocketChannel, type SocketSession } from '../../sockets/contract.ts';
import { jsonOf, parseFrame } from '../../sockets/frame.ts';
import { activityFrame } from './wire.ts';

const TYPES = ['orders_matched', 'trades'] as const;
const QUIET_MS = 15_000;

/**
 * Trades of the whole platform. The stream can freeze while its socket stays open, sooner without PING, so the age of rows decides. Rows
 * may lack the fields that identify a stored trade: they only trigger the poll.
 */
export const activityChannel = (url: string): SocketChannel => ({
  name: 'activity',
  url,
  marketsPerSocket: null,
  heartbeat: { text: 'PING', everyMs: 5000 },
  silentMs: 15_000,
  quietMs: QUIET_MS,
  rotateMs: 20 * 60_000,
  bringsTrades: true,
  session: (_markets, send, clock) => activitySession(send, clock),
});

/** Either type can freeze alone. Every trade sends both, so each is checked against the other. */
function activitySession(send: (text: string) => void, clock: Clock): SocketSession {
  const newest = new Map<string, number>();
  let refused: string | null = null;
  return {
    start() {
      for (const type of TYPES) newest.set(type, clock.elapsed());
      const subscriptions = TYPES.map((type) => ({ topic: 'activity', type }));
      send(JSON.stringify({ action: 'subscribe', subscriptions }));
    },
    setMarkets() {},
    take(frame, emit) {
      // The first frame, and the answer to PING, is an empty text.
      const text = frame.trim();
      if (text === '' || /^pong$/i.test(text)) return false;
      const body = jsonOf(text);
      if (typeof body === 'object' && body !== null && 'statusCode' in body) {
        refused = `the subscription was refused with ${String(body.statusCode).slice(0, 20)}`;
        throw new BadFrame(`the subscription was refused: ${text.slice(0, 120)}`);
      }
      const { payload, type } = parseFrame(activityFrame, body, 'activity');
      newest.set(type, clock.elapsed());
      emit({ kind: 'trade', ref: payload.conditionId });
      return true;
    },
    failure() {
      if (refused !== null) return refused;
      const last = Math.max(...newest.values());
      for (const [type, at] of newest) if (last - at > QUIET_MS) return `no ${type}`;
      return null;
    },
  };
}
