// axe-core over every view: no serious and no critical fault, light and dark, on a desktop and on a
// phone. That the keyboard reaches everything is in keyboard.test.mjs.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { useBrowser, withPage } from './support/browser.mjs';
import { writeDiffPage, writePage } from './support/post.mjs';
import { recordLines, workloads } from './support/recorded.mjs';
import { comparedTraces, mixedTrace, threadsTrace, sitesTrace } from './support/traces.mjs';

useBrowser();

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const files = { mixed: writePage(mixedTrace()), pool: writePage(threadsTrace()), sites: writePage(sitesTrace()), diff: writeDiffPage(comparedTraces()) };

before(() => {
  const trace = join(mkdtempSync(join(tmpdir(), 'jtrace-axe-')), 'cases.bin');
  files.lines = writePage(recordLines(trace, 'LineCases', 'mode=merged'), `--source=${workloads}`);
});

// Pages and their states: each view, and what a view shows only then.
const shown = [
  ['mixed', {}],
  ['mixed', { view: 'flame' }],
  ['mixed', { view: 'flame', 'flame.at': '1', q: 'Work' }],
  ['mixed', { view: 'flame', 'flame.of': 'callers', fold: 'jvm.native' }],
  ['mixed', { view: 'tree' }],
  ['mixed', { view: 'tree', m: 'calls', q: 'Work' }],
  ['mixed', { view: 'graph' }],
  ['mixed', { view: 'graph', 'graph.root': '0', 'graph.widths': '0:1 50:9' }],
  ['mixed', { view: 'flat', q: '(' }],
  ['mixed', { view: 'flat', q: 'Work' }],
  ['mixed', { view: 'function', q: 'Work', 'function.arc': 'c0' }],
  ['mixed', { view: 'source' }],
  ['mixed', { view: 'threads' }],
  ['mixed', { view: 'timeline' }],
  ['mixed', { view: 'timeline', range: '20-60' }],
  ['pool', { view: 'threads' }],
  ['pool', { view: 'threads', threads: 'all' }],
  ['pool', { view: 'flame', 'flame.at': '0' }],
  ['sites', { view: 'tree' }],
  ['sites', { view: 'graph' }],
  ['diff', {}],
  ['diff', { view: 'flame' }],
  ['diff', { view: 'flame', 'flame.at': '3', q: 'Work', m: 'time' }],
  ['diff', { view: 'flat' }],
  ['diff', { view: 'flat', m: 'calls', q: 'Work' }],
  ['diff', { view: 'function', fn: '1' }],
  ['lines', { view: 'source' }],
  ['lines', { view: 'source', 'source.file': '0', 'source.line': '109' }],
];

// What axe says of the page as it is: a line for each place with a serious or critical fault.
async function faultsOf(page) {
  const { violations } = await page.evaluate(() => globalThis.axe.run({ resultTypes: ['violations'] }));
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) => nodes.map(({ html, any }) => `${id}: ${help}: ${html.slice(0, 160)} ${any[0]?.message ?? ''}`));
}

const sizes = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 760 } };
for (const [size, viewport] of Object.entries(sizes)) {
  for (const colorScheme of ['light', 'dark']) {
    for (const name of new Set(shown.map(([file]) => file))) {
      test(`no serious fault, ${size}, ${colorScheme}: ${name}`, () =>
        withPage(
          files[name],
          {},
          async (page) => {
            await page.evaluate(axe);
            for (const [, state] of shown.filter(([file]) => file === name)) {
              const hash = `${new URLSearchParams(state)}`;
              await page.evaluate((wanted) => (location.hash = wanted), hash);
              await page.waitForSelector(`nav a[href*="view=${state.view ?? 'summary'}"][aria-current=page]`);
              await page.waitForTimeout(50);
              assert.deepEqual(await faultsOf(page), [], hash);
            }
          },
          { viewport, colorScheme },
        ));
    }
    test(`no serious fault, ${size}, ${colorScheme}: the keys, the tooltip`, () =>
      withPage(
        files.mixed,
        { view: 'flame' },
        async (page) => {
          await page.evaluate(axe);
          await page.locator('canvas').hover({ position: { x: 20, y: 19 * 3 - 8 } });
          await page.waitForSelector('.tooltip');
          assert.deepEqual(await faultsOf(page), []);
          await page.keyboard.press('?');
          await page.waitForSelector('dialog[open]');
          assert.deepEqual(await faultsOf(page), []);
        },
        { viewport, colorScheme },
      ));
  }
}
