import type { Simulator } from '../simulator.ts';

export type Row = Record<string, unknown>;

/** Reads a simulator over HTTP the way its own tests do: no adapter in between. */
export interface Reader {
  ask(base: 'GAMMA' | 'CLOB' | 'DATA', path: string, init?: RequestInit): Promise<Response>;
  gamma<T = Row[]>(path: string): Promise<T>;
  clob<T = Row>(path: string): Promise<T>;
  data<T = Row[]>(path: string): Promise<T>;
}

export function readerOf(sim: Pick<Simulator<unknown>, 'env'>): Reader {
  const ask: Reader['ask'] = (base, path, init) => fetch(`${sim.env[`POLYMARKET_${base}_URL`]}${path}`, init);
  const read = async <T>(base: 'GAMMA' | 'CLOB' | 'DATA', path: string): Promise<T> =>
    (await ask(base, path)).json() as Promise<T>;
  return {
    ask,
    gamma: (path) => read('GAMMA', path),
    clob: (path) => read('CLOB', path),
    data: (path) => read('DATA', path),
  };
}
