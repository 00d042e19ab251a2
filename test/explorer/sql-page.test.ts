import { expect, test } from 'vitest';
import { FEEDS, healthOf, type Reader } from './bare-service.ts';
import { axeFindings } from './chromium.ts';
import { eachReader, TEST_MS } from './each-reader.ts';

const PATIENT = { timeout: 60_000 };

let reader: Reader;
eachReader(async (opened) => {
  reader = opened;
  await reader.answer('health', healthOf(FEEDS.slice(0, 1)));
});

test(
  'the SQL page lists the views, and of one that is opened the columns with what they mean',
  async () => {
    const { page } = reader;
    const data = [
      ['v_markets', 'title', 'String', 'Question or name'],
      ['v_trades', 'price', 'Decimal(38, 10)', 'Of the outcome traded, 0..1'],
      ['v_trades', 'size', 'Decimal(38, 6)', 'Contracts'],
    ];
    await reader.answer('sql', { meta: [], data });
    await page.goto('/sql');
    const views = page.locator('section.panel', { has: page.getByRole('heading', { name: 'Views and columns' }) });
    await views.locator('summary').first().waitFor(PATIENT);
    expect(await views.locator('summary').allInnerTexts()).toEqual(['v_markets 1 column', 'v_trades 2 columns']);
    await views.getByText('v_trades').click();
    expect(await views.locator('details[open] dl > div').allInnerTexts()).toEqual([
      'price\nOf the outcome traded, 0..1 Decimal(38, 10)',
      'size\nContracts Decimal(38, 6)',
    ]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    expect(await axeFindings(page)).toEqual([]);
  },
  TEST_MS,
);
