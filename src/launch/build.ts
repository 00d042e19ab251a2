import { join } from 'node:path';
import { builtFiles } from '../explorer/bundle.ts';
import { bundleProgram } from './bundle.ts';
import { BUILT, bundleName, ROOT } from './program.mjs';

const HELP = `npm run build
Bundles the service, its stores' commands and the pages of the explorer into dist now. Otherwise, and after a change of the sources, a
program does so when it starts. No settings are read.
`;
/** The programs of an installation that run for long. */
const PROGRAMS = ['src/main.ts', 'src/cli/clickhouse.ts', 'src/cli/postgres.ts'];

if (process.argv.length > 2) {
  process.stdout.write(HELP);
  process.exitCode = process.argv[2] === '--help' ? 0 : 2;
} else {
  for (const program of PROGRAMS) await bundleProgram(join(ROOT, program), join(BUILT, bundleName(program)));
  const pages = await builtFiles();
  process.stdout.write(`${PROGRAMS.length} programs, ${pages.size} files of the explorer\n`);
}
