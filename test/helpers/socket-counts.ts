import type { SocketObserver } from '../../src/platforms/sockets/contract.ts';

/** Counts what happens on sockets, for a test to look at. */
export interface SocketCounts extends SocketObserver {
  readonly total: { messages: number; badFrames: number; reconnects: number; delays: number[] };
}

export function socketCounts(): SocketCounts {
  const total = { messages: 0, badFrames: 0, reconnects: 0, delays: [] as number[] };
  return {
    total,
    messages: (_platform, _channel, count) => void (total.messages += count),
    badFrame: () => void (total.badFrames += 1),
    delay: (_platform, _channel, seconds) => void total.delays.push(seconds),
    reconnect: () => void (total.reconnects += 1),
  };
}
