// Pages in Chromium, and events that must never happen in one: an error, a request.
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { chromium } from 'playwright-core';
import { pageUrl } from './post.mjs';

let browser;

// Call once at the top of a test file.
export function useBrowser() {
  before(async () => {
    browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      // Containers have no user namespaces; the only pages opened are our own.
      args: ['--no-sandbox', '--disable-gpu', '--force-color-profile=srgb'],
    });
  });
  after(() => browser?.close());
}

// Runs `use(page)` on an open page file with that state in its URL.
export function withPage(file, state, use, options = {}) {
  return inPage(pageUrl(file, state), 'main > *', () => false, use, options);
}

// The same on a page of jtrace web, which may request its data from where it is.
export function withUrl(url, use, shown = 'main > *') {
  const data = new URL('data', url).href;
  return inPage(url, shown, (request) => request.split('?')[0] === data, use, {});
}

async function inPage(url, shown, mayRequest, use, options) {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    colorScheme: 'light',
    ...options,
  });
  const page = await context.newPage();
  const wrong = [];
  page.on('console', (message) => wrong.push(`console ${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => wrong.push(`error: ${error.stack}`));
  page.on('dialog', (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!request.isNavigationRequest() && !mayRequest(request.url())) wrong.push(`request: ${request.url()}`);
  });
  try {
    await page.goto(url);
    await page.waitForSelector(shown);
    await use(page);
    assert.deepEqual(wrong, []);
  } finally {
    await context.close();
  }
}

export function stateOf(page) {
  return Object.fromEntries(new URLSearchParams(new URL(page.url()).hash.slice(1)));
}

// The rows of the page's table: data-value by column. Numbers are numbers. Short tables only: rows
// out of sight are not in the document.
export function tableRows(page) {
  return page.$$eval('.table-body [role=row]', (rows) =>
    rows
      .sort((a, b) => a.ariaRowIndex - b.ariaRowIndex)
      .map((row) =>
        Object.fromEntries([
          ['level', Number(row.getAttribute('aria-level')) - 1],
          ...Array.from(row.querySelectorAll('[data-column]'), (cell) => {
            const { column, value } = cell.dataset;
            return [column, cell.classList.contains('number') ? Number(value) : value];
          }),
        ]),
      ),
  );
}

// Whether the picture shows more than one colour.
export function isPainted(page, selector = 'canvas') {
  return page.$eval(selector, (canvas) => {
    const copy = new OffscreenCanvas(canvas.width, canvas.height);
    const context = copy.getContext('2d', { willReadFrequently: true });
    context.drawImage(canvas, 0, 0);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    const colors = new Set();
    for (let i = 0; i < data.length && colors.size < 4; i += 4 * 97) {
      colors.add(data[i] * 65536 + data[i + 1] * 256 + data[i + 2]);
    }
    return colors.size >= 3;
  });
}
