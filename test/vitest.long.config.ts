import all from './vitest.config.ts';

/** What `npm test` leaves out. */
export default {
  ...all,
  // They wait for processes and clocks more than they compute.
  test: { ...all.test, include: ['test/long/**/*.test.ts'], maxWorkers: 3 },
};
