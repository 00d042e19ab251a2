import { mergeConfig } from 'vitest/config';
import all from './vitest.config.ts';

/** Memory is measured with nothing beside: `npm run test:soak`. */
const SOAK = 'test/service/soak.test.ts';
/** Files that kill processes, wait in real time, compare whole worlds or add a platform: `npm run test:long`. */
const LONG = 'test/long/**';

// Loading the modules takes longer than most of these files: the files of a worker share them. They wait for most of their time.
export default mergeConfig(all, { test: { isolate: false, maxWorkers: 4, exclude: [LONG, SOAK] } });
