import all from './vitest.config.ts';

/** What `npm test` leaves out. */
export default { ...all, test: { ...all.test, include: ['test/long/**/*.test.ts'] } };
