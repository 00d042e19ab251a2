import { ConfigError } from '../../core/config-error.ts';
import type { Postgres, Run } from '../../stores/postgres/client.ts';

/** The release that wrote the files; a newer one may refuse them. */
const PACKAGE = 'pglite@npm:@electric-sql/pglite@0.5.16';

/** A PGlite database, with the part of the PostgreSQL interface that migrations need. */
export async function openPglite(dataDir: string): Promise<Pick<Postgres, 'transact' | 'close'>> {
  const { PGlite } = await import('pglite').catch(() => {
    throw new ConfigError(`PGlite is not part of the service; install it for this: npm install --no-save ${PACKAGE}`);
  });
  const engine = await PGlite.create({ dataDir });
  return {
    transact: (work) =>
      engine.transaction((transaction) => {
        const run: Run = async (text, values) => {
          if (values) return (await transaction.query<Record<string, unknown>>(text, values)).rows;
          return (await transaction.exec(text)).at(-1)?.rows ?? [];
        };
        return work(run);
      }),
    close: () => engine.close(),
  };
}
