import { setTimeout as sleep } from 'node:timers/promises';
import { startOrderStores } from '../../helpers/order-stores.ts';
import { startProcess } from '../../helpers/process.ts';
import { processorSeconds } from '../../helpers/process-memory.ts';
import { memoryOf } from '../memory.ts';
import { openClients } from './clients.ts';

const CLIENTS = 1000;
const CONNECTIONS_OF_USER = 50;
const SETTLE_MS = 5000;

export interface IdleResult {
  clients: number;
  /** Proportional set size of the API's process, MB. */
  beforeMb: number;
  withMb: number;
  /** Processor time of the API's process a second, of one core. */
  coreBefore: number;
  coreWith: number;
}

/** What open streams of trades cost on which nothing happens, in a process with the API alone. */
export async function benchIdle(seconds: number): Promise<IdleResult> {
  const stores = await startOrderStores();
  const users = CLIENTS / CONNECTIONS_OF_USER;
  const keys = await stores.within(({ customer }) => Promise.all(Array.from({ length: users }, () => customer())));
  const service = startProcess('api', stores.env);
  try {
    const url = `${await service.ready}/v1/api/stream?channels=trades`;
    const streams = Array.from({ length: CLIENTS }, (_, n) => ({ url, key: keys[n % users]?.key ?? '' }));
    const order = { events: ['trade'], lookIntoEvery: CLIENTS };
    // What the first stream compiles and opens is no cost of the others.
    const first = await openClients({ ...order, streams: streams.slice(0, 1) });
    await sleep(SETTLE_MS);
    const coreBefore = await coreOf(service.pid, seconds);
    const beforeMb = memoryOf(service.pid).node;
    const clients = await openClients({ ...order, streams: streams.slice(1) });
    await sleep(SETTLE_MS);
    const coreWith = await coreOf(service.pid, seconds);
    const withMb = memoryOf(service.pid).node;
    for (const one of [first, clients]) one.close();
    return { clients: CLIENTS, beforeMb, withMb, coreBefore, coreWith };
  } finally {
    service.kill('SIGTERM');
    await service.ended;
    await stores.close();
  }
}

async function coreOf(pid: number, seconds: number): Promise<number> {
  const before = processorSeconds(pid);
  await sleep(seconds * 1000);
  return (processorSeconds(pid) - before) / seconds;
}
