import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type BareService, type Reader, startBareService } from './bare-service.ts';

/** Opening a browser beside other tests, and what a page test may take. */
export const TEST_MS = 200_000;

/** Before each test of a file: a new user's browser context on a service without markets, which is closed after it. */
export function eachReader(opened: (reader: Reader) => Promise<void>): void {
  let service: BareService | undefined;
  let reader: Reader | undefined;
  beforeAll(async () => {
    service = await startBareService();
  }, TEST_MS);
  afterAll(() => service?.close());
  beforeEach(async () => {
    reader = await service?.signedIn();
    if (reader) await opened(reader);
  }, TEST_MS);
  afterEach(() => reader?.context.close());
}
