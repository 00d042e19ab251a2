import { PLATFORMS } from '../../core/model.ts';

/** What Swagger's page gets from us: the head of the explorer, a way back, names of its fields, and colours that can be read. */

export const ICON =
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><rect width='16' height='16' rx='3' fill='#2457d6'/><path d='M3 11h3V8h4V5h3' fill='none' stroke='white' stroke-width='2'/></svg>";

const PAGES = { '/': 'Explorer', '/docs': 'API', '/docs/streams': 'Streams' };

/** The head of the pages that describe the API. */
export const headOf = (current: keyof typeof PAGES): string => {
  const links = Object.entries(PAGES).map(
    ([to, name]) => `<a href="${to}"${to === current ? ' aria-current="page"' : ''}>${name}</a>`,
  );
  return `<a class="brand" href="/">Forecastle</a><nav aria-label="Pages">${links.join('')}</nav>`;
};

export const HEAD_STYLE = `
.site-head { display: flex; align-items: center; gap: 16px; height: 44px; padding: 0 16px; border-bottom: 1px solid #dde1e7; background: #fff; font: 14px system-ui, sans-serif; }
.site-head a { color: #5a6372; text-decoration: none; padding: 5px 10px; border-radius: 5px; }
.site-head a:hover, .site-head a[aria-current] { background: #f0f2f5; color: #14181f; }
.site-head .brand { color: #14181f; font-weight: 700; padding-left: 0; background: none; }
@media (prefers-color-scheme: dark) {
  .site-head { background: #131922; border-color: #29323f; }
  .site-head a { color: #9ba7b7; }
  .site-head a:hover, .site-head a[aria-current] { background: #1b2330; color: #e7ebf1; }
  .site-head .brand { color: #e7ebf1; background: none; }
}
`;

const STYLE = `
body { margin: 0; }
.swagger-ui .topbar { display: none; }
${HEAD_STYLE}html:not(.dark-mode) .swagger-ui .parameter__in, html:not(.dark-mode) .swagger-ui .parameter__deprecated, html:not(.dark-mode) .swagger-ui .prop-format { color: #555; }
.swagger-ui .microlight span[style*='211, 99, 99'] { color: #ffb0b0 !important; }
html:not(.dark-mode) .swagger-ui [class*='json-schema-2020-12'] { color: #333; }
.swagger-ui .info { margin: 24px 0 12px; }
/* Code has a background: the lines of a list must not touch. */
.swagger-ui .info li { line-height: 1.9; }
.swagger-ui .info a, .swagger-ui .info .link, .swagger-ui .markdown a { color: #1f52c9; }
/* On phones, what a group is stands below its name. */
.swagger-ui .opblock-tag { flex-wrap: wrap; }
.swagger-ui .opblock-tag > div { flex: 1 1 auto; white-space: normal; overflow-wrap: anywhere; }
.swagger-ui .opblock .opblock-summary-method { color: #fff; }
.swagger-ui .opblock.opblock-get .opblock-summary .opblock-summary-method { background: #1f52c9; }
.swagger-ui .opblock.opblock-post .opblock-summary .opblock-summary-method { background: #0b6b42; }
.swagger-ui .opblock.opblock-delete .opblock-summary .opblock-summary-method { background: #a82433; }
.swagger-ui .opblock.opblock-patch .opblock-summary .opblock-summary-method { background: #0b6b60; }
.swagger-ui .btn.authorize { color: #0b6b42; border-color: #0b6b42; }
.swagger-ui .btn.authorize svg { fill: #0b6b42; }
.swagger-ui .info .title small { background: #4b5563; }
.swagger-ui .info .title small.version-stamp { background: #0b6b42; }
@media (prefers-color-scheme: dark) {
  html.dark-mode .swagger-ui .info a, html.dark-mode .swagger-ui .info .link, html.dark-mode .swagger-ui .markdown a { color: #82aaff; }
}
`;

const SCRIPT = `
const head = document.createElement('header');
head.className = 'site-head';
head.innerHTML = ${JSON.stringify(headOf('/docs'))};
document.body.prepend(head);
document.getElementById('swagger-ui').setAttribute('role', 'main');
// Swagger draws fields without names, and boxes that scroll without a way to reach them by keyboard.
const complete = () => {
  for (const field of document.querySelectorAll('#swagger-ui select:not([aria-label]), #swagger-ui input:not([aria-label]):not([id])'))
    field.setAttribute('aria-label', field.closest('tr')?.dataset.paramName ?? field.closest('label')?.textContent ?? 'Choice');
  for (const box of document.querySelectorAll('#swagger-ui pre:not([tabindex]), #swagger-ui .highlight-code:not([tabindex])'))
    box.tabIndex = 0;
  // A link inside of the button that opens an operation cannot be reached apart from it.
  for (const link of document.querySelectorAll('#swagger-ui .opblock-summary-control a[href]')) link.removeAttribute('href');
};
new MutationObserver(complete).observe(document.getElementById('swagger-ui'), { childList: true, subtree: true });
complete();
`;

export const DOCS_THEME = {
  title: 'API · Forecastle',
  css: [{ filename: 'site.css', content: STYLE }],
  js: [{ filename: 'site.js', content: SCRIPT }],
  favicon: [{ filename: 'icon.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: ICON }],
};

/** The first steps, above the list of operations. */
export const QUICK_START = `

**Quick start**

1. [Create an account](/account) and an API key on the page of the account. It is shown once.
2. Send it with each request: \`curl -H 'X-API-Key: pk_…' '/v1/api/markets?provider=${PLATFORMS[0]}&status=open&limit=3'\`, after the address of this service.
3. To try calls on this page, press *Authorize* and paste the key; who is signed in to the [explorer](/) can read without one.

Each panel of the explorer shows the call behind it. Errors say what was expected and what to do. [Streams](/docs/streams) have a page of their own.`;
