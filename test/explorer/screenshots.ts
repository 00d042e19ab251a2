import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBrowser } from './chromium.ts';

const HELP = `npm run screenshots [-- URL]
Pictures of every page of the explorer, light, dark and on a phone, into docs/images: of a demo that it starts, or of a service at
URL. Needs Chromium.
`;
const DEMO = fileURLToPath(new URL('../simulators/demo.ts', import.meta.url));
const IMAGES = fileURLToPath(new URL('../../docs/images/', import.meta.url));
const READY_MS = 180_000;
/** For what a page asks for. */
const LOADED_MS = 90_000;
/** For a chart to be drawn. */
const SETTLE_MS = 4000;
const WIDE = { width: 1200, height: 760 };
const PHONE = { width: 390, height: 780 };

async function main(given: string | undefined): Promise<void> {
  const demo = given === undefined ? startDemo() : null;
  const url = given ?? (await demo?.address) ?? '';
  const browser = await openBrowser();
  mkdirSync(IMAGES, { recursive: true });
  try {
    const shots = [
      { mode: 'light', viewport: WIDE, colorScheme: 'light' },
      { mode: 'dark', viewport: WIDE, colorScheme: 'dark' },
      { mode: 'phone', viewport: PHONE, colorScheme: 'light' },
    ] as const;
    for (const { mode, viewport, colorScheme } of shots) {
      const page = await (await browser.newContext({ viewport, colorScheme, baseURL: url })).newPage();
      await page.goto('/');
      const [market = '', event = ''] = await addresses(page);
      const pages = {
        markets: '/',
        market,
        events: '/events',
        event,
        overview: '/overview',
        sql: '/sql',
        status: '/status',
        account: '/account',
      };
      for (const [name, address] of Object.entries(pages)) {
        await page.goto(address);
        await page.locator('table, .editor, .leaders li').first().waitFor();
        if (name === 'sql') await page.getByRole('button', { name: /^Run/ }).click();
        await page.getByText('Loading …', { exact: true }).first().waitFor({ state: 'detached', timeout: LOADED_MS });
        await sleep(SETTLE_MS);
        const path = `${IMAGES}${name}-${mode}.png`;
        const picture = await page.screenshot({ path });
        process.stdout.write(`${name}-${mode}.png ${Math.round(picture.length / 1024)} KB\n`);
      }
    }
  } finally {
    await browser.close();
    demo?.end();
  }
}

/** A market of several in its event, and that event. */
async function addresses(page: import('playwright-core').Page): Promise<string[]> {
  await page.locator('.list .title a').first().waitFor();
  const links = await page
    .locator('.list .title a')
    .evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
  for (const link of links) {
    await page.goto(link);
    await page.locator('.outcomes').waitFor();
    const event = page.locator('.market-name a[href^="/event/"]');
    if ((await event.count()) > 0) return [link, (await event.getAttribute('href')) ?? ''];
  }
  throw new Error('no market has an event');
}

function startDemo(): { address: Promise<string>; end: () => void } {
  const child = spawn(process.execPath, ['--import', 'tsx', DEMO], { stdio: ['ignore', 'pipe', 'inherit'] });
  const address = new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const found = /^Explorer: (\S+)\/$/m.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', () => reject(new Error('the demo ended')));
    setTimeout(() => reject(new Error('the demo is not ready')), READY_MS).unref();
  });
  return { address, end: () => void child.kill('SIGINT') };
}

const [given, ...more] = process.argv.slice(2);
const isHelp = given === '--help' || given === '-h';
if (isHelp || more.length > 0 || (given !== undefined && !/^https?:/.test(given))) {
  process.stdout.write(HELP);
  process.exitCode = isHelp ? 0 : 1;
} else {
  await main(given).catch((error: unknown) => {
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
    process.stderr.write(`screenshots: ${line}\n`);
    process.exitCode = 1;
  });
}
