import { afterAll, beforeAll, describe, vi } from 'vitest';
import { type Site, startSite } from '../../explorer/chromium.ts';
import { waitsInRealTime } from '../../helpers/real-time.ts';
import { numbers } from './numbers.ts';
import { pages } from './pages.ts';
import { reading } from './reading.ts';
import { stream } from './stream.ts';
import { trader } from './trader.ts';

waitsInRealTime('pages in a browser ask again every few seconds to two minutes');

vi.setConfig({ testTimeout: 400_000, hookTimeout: 400_000 });

/** One service and one browser for all: their start takes longer than most of these suites. */
let site: Site;
beforeAll(async () => {
  site = await startSite();
});
afterAll(() => site?.close());

describe('pages of the explorer', () => pages(() => site));
describe('reading', () => reading(() => site));
describe('a trader', () => trader(() => site));
describe('tabs and streams', () => stream(() => site));
describe('numbers, which stop the trading', () => numbers(() => site));
