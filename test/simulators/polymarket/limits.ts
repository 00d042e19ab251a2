/** Rate limits as published: per address, sliding windows of ten seconds, one count per route group. */

const WINDOW_MS = 10_000;

/** Matched against "METHOD /base/path"; every group that matches counts the request. */
const GROUPS: { match: RegExp; limit: number }[] = [
  { match: /^/, limit: 15_000 },
  { match: /^\w+ \/gamma\//, limit: 4000 },
  { match: /^GET \/gamma\/(events|markets)(\/|$)/, limit: 900 },
  { match: /^GET \/gamma\/events(\/|$)/, limit: 500 },
  { match: /^GET \/gamma\/markets(\/|$)/, limit: 300 },
  { match: /^GET \/gamma\/tags(\/|$)/, limit: 200 },
  { match: /^GET \/gamma\/public-search$/, limit: 350 },
  { match: /^\w+ \/data\/(?!v2\/)/, limit: 1000 },
  { match: /^GET \/data\/trades$/, limit: 200 },
  { match: /^GET \/data\/positions$/, limit: 150 },
  { match: /^GET \/data\/closed-positions$/, limit: 150 },
  { match: /^\w+ \/data\/v2\//, limit: 800 },
  { match: /^GET \/data\/v2\/trades$/, limit: 300 },
  { match: /^GET \/data\/v2\/positions(\/combos)?$/, limit: 200 },
  { match: /^GET \/data\/v2\/activity$/, limit: 200 },
  { match: /^GET \/data\/v2\/prices-history$/, limit: 200 },
  { match: /^GET \/data\/v2\/status$/, limit: 100 },
  { match: /^\w+ \/clob\//, limit: 9000 },
  { match: /^GET \/clob\/ok$/, limit: 100 },
  { match: /^GET \/clob\/book$/, limit: 1500 },
  { match: /^GET \/clob\/price$/, limit: 1500 },
  { match: /^GET \/clob\/midpoint$/, limit: 1500 },
  { match: /^\w+ \/clob\/books$/, limit: 500 },
  { match: /^\w+ \/clob\/prices$/, limit: 500 },
  { match: /^\w+ \/clob\/midpoints$/, limit: 500 },
  { match: /^GET \/clob\/prices-history$/, limit: 1000 },
  { match: /^GET \/clob\/tick-size/, limit: 200 },
  { match: /^GET \/clob\/balance-allowance$/, limit: 200 },
  { match: /^GET \/clob\/balance-allowance\/update$/, limit: 50 },
  { match: /^GET \/clob\/data\/orders$/, limit: 500 },
  { match: /^GET \/clob\/data\/trades$/, limit: 500 },
  { match: /^\w+ \/clob\/auth\//, limit: 100 },
  { match: /^(POST|DELETE) \/clob\/order$/, limit: 5000 },
  { match: /^(POST|DELETE) \/clob\/orders$/, limit: 2000 },
  { match: /^DELETE \/clob\/cancel-all$/, limit: 250 },
  { match: /^DELETE \/clob\/cancel-market-orders$/, limit: 1500 },
];

/** Over a limit a tenth more requests are held back, any further ones refused. */
const held = (limit: number): number => Math.ceil(limit / 10);
const LONGEST_HOLD_MS = 500;

export type Verdict =
  { kind: 'pass' } | { kind: 'hold'; delayMs: number } | { kind: 'refuse'; retryAfterSeconds: number };

export interface Limits {
  enforced: boolean;
  /** Counts a request, given as "METHOD /base/path". */
  admit(line: string): Verdict;
}

/** Windows slide with real time, whatever the world's clock says: clients pace themselves by it. */
export function createLimits(now: () => number = () => performance.now()): Limits {
  const windows = GROUPS.map(() => [] as number[]);
  return {
    enforced: true,
    admit(line) {
      const time = now();
      let verdict: Verdict = { kind: 'pass' };
      for (const [i, { match, limit }] of GROUPS.entries()) {
        const window = windows[i];
        if (!window || !match.test(line)) continue;
        while ((window[0] ?? time) <= time - WINDOW_MS) window.shift();
        const freeInMs = (window[0] ?? time) + WINDOW_MS - time;
        if (window.length >= limit + held(limit))
          return { kind: 'refuse', retryAfterSeconds: Math.ceil(freeInMs / 1000) };
        window.push(time);
        if (window.length > limit) verdict = { kind: 'hold', delayMs: Math.min(LONGEST_HOLD_MS, freeInMs) };
      }
      return verdict;
    },
  };
}
