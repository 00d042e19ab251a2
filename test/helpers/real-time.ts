import { vi } from 'vitest';

const RETRY = { retry: 2 } as Parameters<typeof vi.setConfig>[0];

/**
 * Called at the top of a file whose tests compare with the time of the machine, or let some of it pass: a stall of a shared machine may
 * break one try, not three. Every run prints these files with their reasons. Tests of other files are tried once: what they wait for
 * ends their waits, and a limit of half a minute or more only ends a test that fails.
 */
export const waitsInRealTime = (_reason: string): void => void vi.setConfig(RETRY);
