import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { PASSWORD } from '../helpers/browser.ts';
import { CHROMIUM } from '../helpers/chromium-path.ts';
import { filled, startWholeService, type WholeService } from '../helpers/whole-service.ts';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM ?? '', headless: true, args: FLAGS });

const PICTURE =
  "<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'><rect width='8' height='8' fill='teal'/></svg>";

/** A page that records what must not happen: errors on the console, exceptions, reports of the policy, requests to other origins. */
export interface Watched {
  context: BrowserContext;
  page: Page;
  /** What went wrong since it was last asked; `allowed` names what a test provoked. */
  faults: (allowed?: RegExp) => string[];
}

export async function watchedPage(browser: Browser, url: string): Promise<Watched> {
  const context = await browser.newContext({ baseURL: url, viewport: { width: 1280, height: 800 } });
  // Pictures of markets are on the platforms' hosts.
  await context.route(/^https:/, (route) => route.fulfill({ contentType: 'image/svg+xml', body: PICTURE }));
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => faults.push(`exception: ${error.message}`));
  page.on('request', (request) => {
    const address = request.url();
    const isPicture = request.resourceType() === 'image' && address.startsWith('https:');
    if (!address.startsWith(url) && !/^(data|blob):/.test(address) && !isPicture) faults.push(`request to ${address}`);
  });
  await page.addInitScript(
    "document.addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective))",
  );
  // Nobody is signed in yet: the page asks who is.
  const asksWho = /401 .*auth\/me$/;
  const taken = (allowed?: RegExp): string[] =>
    faults.splice(0).filter((one) => !asksWho.test(one) && !allowed?.test(one));
  return { context, page, faults: taken };
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Serious and critical findings of axe, by rule and element. */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = (await page.evaluate('axe.run()')) as {
    violations: { id: string; impact: string; nodes: { target: unknown; failureSummary: string }[] }[];
  };
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.slice(0, 5).map(({ target, failureSummary }) => `${id} ${JSON.stringify(target)} ${failureSummary}`),
    );
}

export const EMAIL = 'reader@example.com';

/** Registers through the page, or signs in when that is done already. */
export async function signIn(page: Page, email = EMAIL): Promise<void> {
  await page.goto('/');
  await page.getByLabel('E-mail').waitFor();
  const register = await fetch(new URL('/v1/api/auth/register', page.url()), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: PASSWORD }),
  });
  if (!register.ok && register.status !== 409) throw new Error(await register.text());
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('table').first().waitFor();
}

/** A filled service and a browser. */
export interface Site {
  whole: WholeService;
  browser: Browser;
  close(): Promise<void>;
}

export async function startSite(): Promise<Site> {
  const whole = await startWholeService();
  const browser = await openBrowser();
  await filled(whole);
  return {
    whole,
    browser,
    async close() {
      await browser.close();
      await whole.close();
    },
  };
}

/** A reader with an account, and so a number of requests, of their own. */
export interface SignedIn {
  whole: WholeService;
  reader: Watched;
  page: Page;
  close(): Promise<void>;
}

export async function signedIn({ whole, browser }: Site, email: string): Promise<SignedIn> {
  const reader = await watchedPage(browser, whole.service.url);
  await signIn(reader.page, email);
  return { whole, reader, page: reader.page, close: () => reader.context.close() };
}
