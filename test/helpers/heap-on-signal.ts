import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Preloaded into a service: at SIGUSR2 it collects garbage and prints what is in use after that. */
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
process.on('SIGUSR2', () => {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  process.stdout.write(`in use: ${heapUsed + external} bytes, ${process.getActiveResourcesInfo().length} handles\n`);
});
