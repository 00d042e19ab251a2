import { call } from '../parts/api.ts';

/** A request budget of a platform, since the service started. */
export interface Budget {
  name: string;
  /** Requests a second it allows now. */
  perSecond: number | null;
  taken: number | null;
  refused: number | null;
  waiting: number | null;
}

const LINE = /^forecastle_platform_(\w+)\{budget="([^"]*)"\} (\S+)$/;
const FIGURES: Record<string, Exclude<keyof Budget, 'name'>> = {
  budget_refill_per_second: 'perSecond',
  budget_tokens_total: 'taken',
  budget_refused_total: 'refused',
  waiting_requests: 'waiting',
};

/** What /metrics says of the request budgets. */
export async function readBudgets(signal: AbortSignal): Promise<Budget[]> {
  const text = await (await call('/metrics', { signal })).text();
  const budgets = new Map<string, Budget>();
  for (const line of text.split('\n')) {
    const [, figure = '', name = '', value = ''] = LINE.exec(line) ?? [];
    const field = FIGURES[figure];
    if (!field || !Number.isFinite(Number(value))) continue;
    const budget = budgets.get(name) ?? { name, perSecond: null, taken: null, refused: null, waiting: null };
    budgets.set(name, { ...budget, [field]: Number(value) });
  }
  return [...budgets.values()].toSorted((a, b) => a.name.localeCompare(b.name));
}
