import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Preloaded into a service: at SIGUSR2 it collects garbage and prints what is in use after that. */
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
process.on('SIGUSR2', () => {
  collect();
  process.stdout.write(`heap ${process.memoryUsage().heapUsed} bytes\n`);
});
