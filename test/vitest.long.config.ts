import all from './vitest.config.ts';

/** What `npm test` leaves out. A file waits for about half of its time: three keep two cores busy. */
export default { ...all, test: { ...all.test, include: ['test/long/**/*.test.ts'], maxWorkers: 3 } };
