import { onTestFinished } from 'vitest';
import { type ServiceProcess, startProcess } from './process.ts';

/** A service that ends with the test that started it: one left by a failed try would hold its DATA_DIR against the next. */
export function startProcessOfTest(...given: Parameters<typeof startProcess>): ServiceProcess {
  const service = startProcess(...given);
  onTestFinished(async () => {
    service.kill('SIGKILL');
    await service.ended;
  });
  return service;
}
