/** Preloaded into a service: SIGUSR2 is a defect that nobody catches. */
process.on('SIGUSR2', () => {
  setImmediate(() => {
    throw new Error('a defect');
  });
});
