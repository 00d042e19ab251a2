import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { fileURLToPath } from 'node:url';
import { quantile } from '../quantile.ts';

/** Streams to open, each with its key, and what is counted of them. */
export interface ClientsOrder {
  streams: { url: string; key: string }[];
  /** Names of the events that are counted. */
  events: string[];
  /** Of so many streams one is looked into; the others are only read. */
  lookIntoEvery: number;
  /** Ends when each stream that is looked into has had so many. */
  until?: number;
}

/** Events of the streams that are looked into; milliseconds from the platform's time of an event to its arrival. */
export interface ClientFigures {
  /** Of one stream. */
  eventsPerSecond: number;
  p50: number;
  p99: number;
}

/** Clients of server-sent events in a process of their own. */
export interface Clients {
  /** Counts for so long from now on. */
  measure(forMs: number): Promise<ClientFigures>;
  close(): void;
}

/** Resolves once every stream has brought something. */
export async function openClients(order: ClientsOrder): Promise<Clients> {
  const child = await started(order);
  return {
    async measure(forMs) {
      child.send({ forMs });
      const [figures] = (await once(child, 'message')) as [ClientFigures];
      return figures;
    },
    close: () => child.kill(),
  };
}

/** Opens streams and resolves with the seconds until each had `until` events. */
export async function readUntil(order: ClientsOrder & { until: number }): Promise<number> {
  const child = await started(order);
  const [{ seconds }] = (await once(child, 'message')) as [{ seconds: number }];
  child.kill();
  return seconds;
}

async function started(order: ClientsOrder): Promise<ChildProcess> {
  const child = fork(fileURLToPath(import.meta.url), ['run'], { execArgv: ['--import', 'tsx'] });
  child.send(order);
  const gone = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the clients ended with ${code}`)));
  gone.catch(() => {});
  await Promise.race([once(child, 'message'), gone]);
  return child;
}

const AT = '"exchange_at":"';
const TIME_CHARS = 24;

/** Reads streams, and notes how late the events of some of them are. */
function runClients({ streams, events, lookIntoEvery, until = Infinity }: ClientsOrder): void {
  const heads = events.map((name) => `event: ${name}\n`);
  const looked = Math.ceil(streams.length / lookIntoEvery);
  const began = performance.now();
  let lateMs: number[] = [];
  let isMeasuring = until < Infinity;
  let [opened, counted] = [0, 0];

  const take = (frame: string): void => {
    if (!heads.some((head) => frame.includes(head))) return;
    counted += 1;
    if (counted === until * looked) process.send?.({ seconds: (performance.now() - began) / 1000 });
    if (until < Infinity) return;
    const at = frame.indexOf(AT) + AT.length;
    // Microseconds are cut off.
    if (at >= AT.length) lateMs.push(Date.now() - Date.parse(`${frame.slice(at, at + TIME_CHARS - 1)}Z`));
  };
  const lookInto = (reply: IncomingMessage): void => {
    let rest = '';
    reply.setEncoding('latin1');
    reply.on('data', (chunk: string) => {
      if (!isMeasuring) rest = '';
      else {
        const frames = (rest + chunk).split('\n\n');
        rest = frames.pop() ?? '';
        for (const frame of frames) take(frame);
      }
    });
  };
  for (const [index, { url, key }] of streams.entries()) {
    get(url, { headers: { 'x-api-key': key }, agent: false }, (reply) => {
      if (reply.statusCode !== 200) {
        reply.on('data', (text) => process.stderr.write(`${url} answered ${reply.statusCode} ${text}\n`));
        reply.on('end', () => process.exit(1));
        return;
      }
      reply.once('data', () => {
        opened += 1;
        if (opened === streams.length) process.send?.('open');
      });
      if (index % lookIntoEvery === 0) lookInto(reply);
      else reply.resume();
    });
  }
  process.on('message', ({ forMs }: { forMs: number }) => {
    [lateMs, counted, isMeasuring] = [[], 0, true];
    setTimeout(() => {
      isMeasuring = false;
      const eventsPerSecond = counted / looked / (forMs / 1000);
      process.send?.({ eventsPerSecond, p50: quantile(lateMs, 0.5), p99: quantile(lateMs, 0.99) });
    }, forMs);
  });
}

if (process.send && process.argv[2] === 'run') {
  process.once('message', (order: ClientsOrder) => runClients(order));
  process.once('disconnect', () => process.exit(0));
}
