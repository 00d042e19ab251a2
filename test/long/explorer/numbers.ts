import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WholeService } from '../../helpers/whole-service.ts';
import { type SignedIn, signedIn, type Site } from '../../explorer/chromium.ts';
import { expectedOf, type Answers } from '../../explorer/expected-numbers.ts';

const PLATFORMS = ['kalshi', 'polymarket', 'limitless'] as const;
const LEAST_NUMBERS = 3;
/** Pages ask again at least every two minutes. */
const patient = { timeout: 150_000, interval: 2000 };

/** Every number in an element, in order: what it stands for, null where "unknown" is shown; and those whose digits say another. */
async function numbersIn(element: Locator): Promise<{ numbers: (string | null)[]; misread: string[] }> {
  const shown = await element.evaluate((root) =>
    [...root.querySelectorAll('data, .unknown')]
      .filter((one) => one.closest('dialog') === null)
      .map((one): [value: string | null, text: string] => [one.getAttribute('value'), one.textContent ?? '']),
  );
  return {
    numbers: shown.map(([value]) => value),
    misread: shown.flatMap(([value, text]) => (value === null || says(text, value) ? [] : [`${value} as ${text}`])),
  };
}

const SCALES: Record<string, number> = { K: 1e3, M: 1e6, B: 1e9, T: 1e12 };
/** Whether digits such as `$1,234.5` or `−1.23K` are a value, rounded to what they show. */
function says(text: string, value: string): boolean {
  // A change of 0.05 USD is "+5 pt".
  if (text.endsWith(' pt')) return says(text.slice(0, -3), String(Number(value) * 100));
  const [, digits = '', scale = ''] = /^[+−$]*([0-9.,]+)([KMBT])?/.exec(text) ?? [];
  const factor = SCALES[scale] ?? 1;
  const step = factor / 10 ** (digits.split('.')[1]?.length ?? 0);
  const size = Number(digits.replaceAll(',', '')) * factor;
  return digits !== '' && Math.abs(size * (text.startsWith('−') ? -1 : 1) - Number(value)) <= step * 0.5000001;
}

const panel = (title: string): string => `section.panel:has(> header h2:text("${title}"))`;

/** Numbers of the pages. They stop the trading. */
export function numbers(site: () => Site): void {
  let session: SignedIn;
  let whole: WholeService;
  let page: Page;

  const api: Answers = async <T>(path: string): Promise<T> => {
    const reply = await whole.get(`/v1/api/${path}`);
    if (reply.status !== 200) throw new Error(`GET ${path} answered ${reply.status}`);
    return (await reply.json()) as T;
  };
  const busiest = async (platform: string, status: string): Promise<{ id: string; event_id: string }> => {
    const path = `markets?provider=${platform}&status=${status}&sort=volume_total&limit=20`;
    const { markets } = await api<{ markets: { id: string; event_id: string }[] }>(path);
    const first = markets.find((market) => market.event_id !== '');
    if (!first) throw new Error(`no ${status} market of ${platform}`);
    return first;
  };

  /** The numbers of a part of the page, once they are those that the API answers. */
  async function expectEqual(part: string, wanted: () => Promise<(number | null | undefined)[]>): Promise<void> {
    const compared = async () => {
      const expected = (await wanted()).map((value) => (typeof value === 'number' ? String(value) : null));
      const { numbers, misread } = await numbersIn(page.locator(part));
      if (expected.length < LEAST_NUMBERS) return `the API answers only ${expected.length} numbers`;
      const isEqual = JSON.stringify(numbers) === JSON.stringify(expected) && misread.length === 0;
      return isEqual ? 'equal' : { numbers, expected, misread };
    };
    await expect.poll(compared, patient).toBe('equal');
  }

  beforeAll(async () => {
    session = await signedIn(site(), 'numbers@example.com');
    ({ whole, page } = session);
    for (const simulator of whole.simulators) simulator.startTrading(0);
  });
  afterAll(() => session.close());

  test.each(PLATFORMS)('each row of the list of %s shows what the API answers', async (platform) => {
    await page.goto(`/?platform=${platform}`);
    const links = page.locator('table.list tbody tr a');
    await links.first().waitFor();
    const shown = async (): Promise<string[]> => {
      const addresses = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
      return addresses.map((address) => decodeURIComponent(address.slice('/market/'.length)));
    };
    await expectEqual('table.list tbody', async () => expectedOf.listed(api, platform, await shown()));
  });

  test.each(PLATFORMS)('the page of an event of %s shows what the API answers', async (platform) => {
    const { event_id: event } = await busiest(platform, 'open');
    await page.goto(`/event/${encodeURIComponent(`${platform}:${event}`)}`);
    await page.locator('header.market-head').waitFor();
    await expectEqual('header.market-head', () => expectedOf.eventHead(api, platform, event));
    await expectEqual(panel('Markets'), () => expectedOf.eventMarkets(api, platform, event));
  });

  test.each(PLATFORMS)('the page of an open market of %s shows what the API answers', async (platform) => {
    const { id } = await busiest(platform, 'open');
    await page.goto(`/market/${encodeURIComponent(id)}?range=1w`);
    await page.locator('ul.outcomes').waitFor();
    await expectEqual('ul.outcomes', () => expectedOf.outcomes(api, platform, id));
    await expectEqual(panel('Order book'), () => expectedOf.book(api, platform, id));
    await expectEqual(panel('Trades'), () => expectedOf.tape(api, platform, id));
    await expectEqual('.history .legend', () => expectedOf.candle(api, platform, id));
    await expectEqual(panel('Figures'), () => expectedOf.figures(api, platform, id));
  });

  test.each(PLATFORMS)('the page of a settled market of %s shows what each outcome paid', async (platform) => {
    const { id } = await busiest(platform, 'settled');
    await page.goto(`/market/${encodeURIComponent(id)}`);
    await page.locator('ul.outcomes').waitFor();
    await expectEqual('ul.outcomes', () => expectedOf.outcomes(api, platform, id));
  });

  test('the statement behind calibration answers its bins', async () => {
    await page.goto('/overview');
    await page.getByRole('button', { name: /^Query for Calibration/ }).click();
    const statement = await page.locator('dialog[open] pre').nth(1).innerText();
    type Bin = { price_from: number; markets: number; came_true: number; came_true_share: number; mean_price: number };
    const figures = (bin: Bin): number[] =>
      [bin.price_from, bin.markets, bin.came_true, bin.came_true_share, bin.mean_price].map(Number);
    const compared = async () => {
      const { calibration } = await api<{ calibration: Bin[] }>('analytics/calibration?horizon=1h');
      const wanted = calibration.filter(({ markets }) => markets > 0).map(figures);
      expect(wanted.length).toBeGreaterThan(0);
      const answered = (await whole.sql<Bin>(statement)).map(figures);
      return JSON.stringify(answered) === JSON.stringify(wanted) ? 'equal' : { answered, wanted };
    };
    // The API keeps its answer for a minute, in which a market may settle.
    await expect.poll(compared, { timeout: 90_000, interval: 3000 }).toBe('equal');
  });

  test('the overview shows what the API answers', async () => {
    await page.goto('/overview');
    await page.locator('section.panel table').first().waitFor();
    await expectEqual(`${panel('Trending')} table`, () => expectedOf.trending(api));
    await expectEqual(panel('Large trades'), () => expectedOf.largeTrades(api));
    await expectEqual(panel('Volume by category'), () => expectedOf.categories(api));
    await expectEqual(panel('Volume by platform'), () => expectedOf.platformVolumes(api, PLATFORMS));
    await expectEqual(`${panel('New markets')} table`, () => expectedOf.newMarkets(api));
    await expectEqual(panel('Calibration'), () => expectedOf.calibration(api));
    await page.getByRole('group', { name: 'List' }).getByRole('button', { name: 'Settled' }).click();
    await expectEqual(`${panel('Settled markets')} table`, () => expectedOf.settledMarkets(api));
  });
}
