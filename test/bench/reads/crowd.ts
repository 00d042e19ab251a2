import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { askThrough, requestText } from '../plain-client.ts';
import { READ_ROUTES, type ReadRoute, type Refs } from './routes.ts';

/** What a crowd does: `connections` that ask, each one call after another, for `ms`. */
export interface CrowdOrder {
  port: number;
  /** Names of routes, chosen by their shares. */
  routes: string[];
  keys: string[];
  connections: number;
  ms: number;
}

/** What it got: milliseconds of each answer by route, and of all of it. */
export interface Asked {
  latencies: Record<string, number[]>;
  tookMs: number;
}

/** A process of clients over the markets that a file names. */
export interface Crowd {
  ask(order: CrowdOrder): Promise<Asked>;
  close(): void;
}

export function openCrowd(refsFile: string): Crowd {
  const child = fork(fileURLToPath(import.meta.url), [refsFile], { execArgv: ['--import', 'tsx'] });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the clients ended with ${code}`);
  });
  ended.catch(() => {});
  return {
    async ask(order) {
      child.send(order);
      const [asked] = (await Promise.race([once(child, 'message'), ended])) as [Asked];
      return asked;
    },
    close: () => void child.kill(),
  };
}

/** Answers a crowd's order; anything but 200 ends this process. */
async function askAll({ port, routes, keys, connections, ms }: CrowdOrder, refs: Refs): Promise<Asked> {
  const choices = READ_ROUTES.filter(({ name }) => routes.includes(name));
  const latencies: Asked['latencies'] = Object.fromEntries(choices.map(({ name }) => [name, []]));
  const startedMs = performance.now();
  const end = startedMs + ms;
  let asked = 0;
  const sockets = Array.from({ length: connections }, () => connect(port, '127.0.0.1'));
  await Promise.all(
    sockets.map((socket) => {
      let current: { times: number[]; startedMs: number } | null = null;
      return askThrough(socket, () => {
        const nowMs = performance.now();
        current?.times.push(nowMs - current.startedMs);
        if (nowMs >= end) return null;
        const route = chosen(choices);
        const text = requestText(`/v1/api/${route.path(refs)}`, keys[(asked += 1) % keys.length]);
        current = { times: latencies[route.name] ?? [], startedMs: performance.now() };
        return text;
      });
    }),
  );
  for (const socket of sockets) socket.destroy();
  return { latencies, tookMs: performance.now() - startedMs };
}

function chosen(routes: readonly ReadRoute[]): ReadRoute {
  let left = Math.random() * routes.reduce((sum, { share }) => sum + share, 0);
  const found = routes.find(({ share }) => (left -= share) < 0) ?? routes[0];
  if (!found) throw new Error('a crowd needs a route');
  return found;
}

if (process.send && process.argv[1] === fileURLToPath(import.meta.url)) {
  const refs = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Refs;
  process.on('message', async (order: CrowdOrder) => process.send?.(await askAll(order, refs)));
  process.once('disconnect', () => process.exit(0));
}
