import type { Log } from '../../core/log.ts';
import type { Clock } from '../../core/time.ts';
import type { EngineClient } from './client.ts';

const LOOK_MS = 15_000;
const LOAD_MS = 300_000;

/** Dictionaries that are loaded and older than their lifetime. One that loads slowly is loaded for a twentieth of the time. */
const DUE = `SELECT concat(database, '.', name) FROM system.dictionaries WHERE status = 'LOADED' AND lifetime_max > 0
  AND now() - last_successful_update_time >= greatest((lifetime_min + lifetime_max) / 2, 20 * loading_duration)`;

/** Loads dictionaries again after their lifetime, as a ClickHouse server does and the engine's program does not, until `stopping`. */
export function renewDictionaries(client: EngineClient, stopping: AbortSignal, log: Log, clock: Clock): void {
  const run = (sql: string): Promise<string> => {
    const signal = AbortSignal.any([stopping, clock.deadline(LOAD_MS)]);
    return client.text({ sql, format: 'TabSeparated', settings: new Map(), params: new Map() }, signal);
  };
  const stop = clock.every(LOOK_MS, async () => {
    try {
      const due = await run(DUE);
      for (const name of due.split('\n').filter(Boolean)) await run(`SYSTEM RELOAD DICTIONARY ${name}`);
    } catch (error) {
      if (!stopping.aborted) log.warn({ err: error }, 'The embedded ClickHouse did not load its dictionaries again');
    }
  });
  stopping.addEventListener('abort', stop, { once: true });
}
