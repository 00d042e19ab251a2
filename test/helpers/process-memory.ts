import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceProcess } from './process.ts';

const COLLECTED_WITHIN_MS = 60_000;

/** What a service that was started with heap-on-signal.ts has in use after a collection: bytes of its heap and beside it, and handles. */
export async function heldAfterCollection(service: ServiceProcess): Promise<{ bytes: number; handles: number }> {
  const before = service.output().length;
  service.kill('SIGUSR2');
  for (const end = Date.now() + COLLECTED_WITHIN_MS; Date.now() < end; await sleep(50)) {
    const found = /in use: (\d+) bytes, (\d+) handles/.exec(service.output().slice(before));
    if (found) return { bytes: Number(found[1]), handles: Number(found[2]) };
  }
  throw new Error('the service did not say what it has in use');
}

/** A process and all below it. Linux alone. */
export const processesOf = (root: number): number[] => [root, ...childrenOf(root)];

/**
 * Proportional set size in MB: pages that processes share are divided among them, so that a sum counts each once. 0 for a process that
 * has ended, as PostgreSQL's helpers do at any moment.
 */
export function pssMb(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch (error) {
    if (hasEnded(error)) return 0;
    throw error;
  }
}

/** USER_HZ of Linux: what /proc counts processor time in. */
const TICKS_PER_SECOND = 100;

/** Processor time of a process so far, its children not counted; 0 for one that has ended. */
export function processorSeconds(pid: number): number {
  try {
    // The name of the program, in parentheses, may hold anything.
    const fields = /\) (.*)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch (error) {
    if (hasEnded(error)) return 0;
    throw error;
  }
}

const hasEnded = (error: unknown): boolean => ['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '');

export const openFiles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

function childrenOf(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      // The name of the program, in parentheses, may hold anything.
      const [, parent] = /^\S+ \(.*\) \S (\d+)/s.exec(readFileSync(`/proc/${name}/stat`, 'utf8')) ?? [];
      parents.set(Number(name), Number(parent));
    } catch {
      // It ended meanwhile.
    }
  }
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent !== undefined && parent > 1 && (parent === root || isBelow(parent));
  };
  return [...parents.keys()].filter(isBelow);
}
