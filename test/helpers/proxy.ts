import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP relay in front of a store, with which a test takes the store away and gives it back. */
export interface Proxy {
  port: number;
  /** Breaks every connection and refuses new ones. */
  cut(): Promise<void>;
  /** Accepts connections and passes nothing on. */
  hang(): void;
  restore(): Promise<void>;
  close(): Promise<void>;
}

export async function startProxy(host: string, port: number): Promise<Proxy> {
  const open = new Set<Socket>();
  let hanging = false;
  const server = createServer((client) => {
    // A host that is a directory holds the socket of a PostgreSQL.
    const store = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    for (const [from, to] of [
      [client, store],
      [store, client],
    ] as const) {
      open.add(from);
      from.on('data', (chunk) => {
        if (!hanging) to.write(chunk);
      });
      from.on('error', () => {});
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
    }
  });
  const listen = async (at: number): Promise<number> => {
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const cut = async (): Promise<void> => {
    if (!server.listening) return;
    server.close();
    for (const socket of open) socket.destroy();
    await once(server, 'close');
  };
  const own = await listen(0);
  return {
    port: own,
    cut,
    hang: () => {
      hanging = true;
    },
    async restore() {
      // What was held back is lost: those connections end.
      if (hanging) for (const socket of open) socket.destroy();
      hanging = false;
      if (!server.listening) await listen(own);
    },
    close: cut,
  };
}

/** The URL of a store with the relay in its place. */
export async function relayed(url: string): Promise<{ proxy: Proxy; url: string }> {
  const target = new URL(url);
  const standard = target.protocol.startsWith('redis') ? 6379 : 5432;
  const proxy = await startProxy(target.hostname, Number(target.port || standard));
  target.hostname = '127.0.0.1';
  target.port = String(proxy.port);
  return { proxy, url: target.href };
}
