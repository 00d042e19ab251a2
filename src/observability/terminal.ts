import type { Config } from '../core/config.ts';
import { listText } from '../core/text.ts';
import type { IngestionHealth } from './ingestion-health.ts';

type Shown = Pick<Config, 'platforms' | 'BACKFILL_DAYS' | 'registrationOpen'>;

/** The lines that a terminal shows once the service answers: its address, how to get an account and a key, and what is being fetched. */
export function welcome({ platforms, BACKFILL_DAYS: days, registrationOpen }: Shown, url: string): string {
  const account = registrationOpen
    ? `register at ${url}/account; API keys are made there too`
    : 'npm run user -- create EMAIL';
  return [
    `Forecastle: ${url}/`,
    `  Account and key: ${account}.`,
    `  Fetching: every market of ${listText(platforms, 'and')}, and trades of ${days} days. Markets can be read as they are stored.`,
    `  State: ${url}/status, and a line a minute here. LOG_LEVEL=info shows every request.`,
    '',
  ].join('\n');
}

/** One line about how far each platform is. */
export function progressLine(health: readonly IngestionHealth[]): string {
  return `${health.map(({ platform, ...one }) => `${platform}: ${stateOf(one)}`).join(' · ')}\n`;
}

function stateOf({ lagSeconds, status, detail }: Pick<IngestionHealth, 'lagSeconds' | 'status' | 'detail'>): string {
  if (status !== 'ok') return detail.slice(0, 120);
  return `complete up to ${lagSeconds ?? 0} s ago`;
}
