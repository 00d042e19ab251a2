import { openClickHouse } from '../clickhouse.ts';
import { loadConfig } from '../config.ts';
import { createLog } from '../log.ts';
import { verifyRollups } from '../verify.ts';
import { runCommand } from './command.ts';

const SAMPLE = 16;
const USAGE = `npm run verify [-- --all]
Recomputes every roll-up from the raw trades of one market in ${SAMPLE} (--all: of every market) and compares. Ends with 1 when
anything differs. Run it while nothing is being stored, and where no raw trades have been dropped by age.`;

await runCommand(USAGE, async (args) => {
  const config = loadConfig(process.env, 'stores');
  const clickhouse = await openClickHouse(config, createLog(config, process.stderr));
  try {
    const verdicts = await verifyRollups(clickhouse, args.includes('--all') ? 1 : SAMPLE);
    for (const { table, compared, different } of verdicts) {
      process.stdout.write(
        `${table.padEnd(14)} ${String(compared).padStart(10)} compared ${String(different).padStart(8)} different\n`,
      );
    }
    if (verdicts.some((verdict) => verdict.different > 0)) process.exitCode = 1;
  } finally {
    await clickhouse.close();
  }
});
