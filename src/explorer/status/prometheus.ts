import { call } from '../parts/api.ts';

/** A request budget of a platform; totals count from the start of the service. */
interface Budget {
  name: string;
  /** Requests per second allowed now. */
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

/** Reads the request budgets from /metrics. */
export async function readBudgets(signal: AbortSignal): Promise<Budget[]> {
  const text = await (await call('/metrics', { signal })).text();
  const budgets = new Map<string, Budget>();
  for (const line of text.split('\n')) {
    const [, figure = '', name = '', value = ''] = LINE.exec(line) ?? [];
    const field = FIGURES[figure];
    if (!field || !Number.isFinite(Number(value))) continue;
    const budget = budgets.get(name) ?? { name, perSecond: null, taken: null, refused: null, waiting: null };
    // A late call takes parts of a token.
    budgets.set(name, { ...budget, [field]: field === 'taken' ? Math.round(Number(value)) : Number(value) });
  }
  return [...budgets.values()].toSorted((a, b) => a.name.localeCompare(b.name));
}
