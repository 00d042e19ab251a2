import { vi } from 'vitest';

const RETRY = { retry: 2 } as Parameters<typeof vi.setConfig>[0];

/**
 * Called at the top of a file whose tests wait in real time: a stall of a shared machine may break one try, not three. Every run
 * prints these files with their reasons; tests of other files are tried once.
 */
export const waitsInRealTime = (_reason: string): void => void vi.setConfig(RETRY);
