import pg from 'pg';

/** Connections to PostgreSQL that are open in this process. */
const connections = new Set<pg.Client & { readyForQuery?: boolean }>();
const { connect } = pg.Client.prototype;
pg.Client.prototype.connect = function (this: pg.Client, ...given: Parameters<typeof connect>) {
  connections.add(this);
  this.once('end', () => connections.delete(this));
  return connect.apply(this, given);
} as typeof connect;

let calls = 0;

/** The same object; calls of its methods count as work until they end. */
export function watched<T extends object>(target: T): T {
  return new Proxy(target, {
    get(of, name, receiver) {
      const value: unknown = Reflect.get(of, name, receiver);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]): unknown => {
        const result: unknown = value.apply(of, given);
        if (!(result instanceof Promise)) return result;
        calls += 1;
        const end = (): void => void (calls -= 1);
        result.then(end, end);
        return result;
      };
    },
  });
}

/** What the process may wait for without end. */
const HANDLES = /^(Timeout|Immediate|TCPSocketWrap|TCPServerWrap|PipeWrap|TTYWrap|MessagePort|ProcessWrap|Worker)$/;

/** Whether the process waits for a store, a file, or a thread: not for a timer, and not for what comes over sockets. */
export function isAtWork(): boolean {
  if (calls > 0) return true;
  for (const { readyForQuery } of connections) if (readyForQuery !== true) return true;
  return process.getActiveResourcesInfo().some((kind) => !HANDLES.test(kind));
}
