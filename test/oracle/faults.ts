import type { Fault, Simulator } from '../simulators/simulator.ts';

const page = (title: string): Pick<Fault, 'body' | 'headers'> => ({
  body: `<!DOCTYPE html><html><head><title>${title}</title></head><body></body></html>`,
  headers: { 'content-type': 'text/html' },
});

/** What a platform does when it is not well; all but the limits, which slow everything down, outlast the retries of one request. */
const FAULTS: readonly Omit<Fault, 'match'>[] = [
  { kind: 'status', times: 2, status: 429, body: '{"error":"too many requests"}' },
  { kind: 'hang', times: 2 },
  { kind: 'status', times: 2, status: 200, body: '{"data":"nothing"}' },
  { kind: 'reset', times: 4 },
  { kind: 'status', times: 4, status: 500, body: '{"error":"internal"}' },
  { kind: 'slow', times: 2, delayMs: 700 },
  { kind: 'cut', times: 4 },
  { kind: 'status', times: 1, status: 429, ...page('Error 1015') },
  { kind: 'status', times: 4, status: 503, ...page('Service Unavailable') },
  { kind: 'status', times: 2, status: 200, body: 'OK' },
  { kind: 'status', times: 1, status: 403, ...page('Forbidden in your region') },
  { kind: 'status', times: 4, status: 502 },
];

/** Faults dealt to the endpoints, each its own one a round, from the `first` on. */
export function faultRounds(endpoints: readonly RegExp[], first: number, rounds: number): Fault[][] {
  const dealt = [...FAULTS.slice(first), ...FAULTS.slice(0, first)];
  return Array.from({ length: rounds }, (_, round) =>
    endpoints.flatMap((match, at) => {
      const fault = dealt[round * endpoints.length + at];
      return fault ? [{ ...fault, match }] : [];
    }),
  );
}

/** Answers the next `times` requests to a path with the platform's own answer as `edit` changed it. */
export async function spoil(
  sim: Simulator<unknown>,
  url: string,
  times: number,
  edit: (body: Record<string, Record<string, unknown>[]>) => void,
): Promise<void> {
  const body = (await (await fetch(url)).json()) as Record<string, Record<string, unknown>[]>;
  edit(body);
  const target = url.slice(new URL(url).origin.length);
  const match = new RegExp(`^GET ${target.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}$`);
  const headers = { 'content-type': 'application/json' };
  sim.inject({ match, times, kind: 'status', status: 200, body: JSON.stringify(body), headers });
}
