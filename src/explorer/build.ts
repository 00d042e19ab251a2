import { writeBundle } from './bundle.ts';

const HELP = `npm run build
Bundles the pages of the explorer into dist/explorer now. Otherwise, and after a change of its sources, the service does so when it
starts. No settings are read.
`;

if (process.argv.length > 2) {
  process.stdout.write(HELP);
  process.exitCode = process.argv[2] === '--help' ? 0 : 2;
} else {
  const names = await writeBundle();
  process.stdout.write(`${names.length} files of the explorer\n`);
}
