import all from './vitest.config.ts';
import { LONG } from './vitest.quick.config.ts';

export default { ...all, test: { ...all.test, include: LONG } };
