// The keyboard alone: Tab reaches every control and shows where it is, and keys open views, rows,
// frames, groups, a part of the run and downloads. No mouse anywhere.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { stateOf, tableRows, useBrowser, withPage } from './support/browser.mjs';
import { writeDiffPage, writePage } from './support/post.mjs';
import { recordLines, workloads } from './support/recorded.mjs';
import { comparedTraces, mixedTrace, sitesTrace, threadsTrace } from './support/traces.mjs';

useBrowser();

const mixed = writePage(mixedTrace());
const threads = writePage(threadsTrace());
const sites = writePage(sitesTrace());
const compared = writeDiffPage(comparedTraces());
let lines;

before(() => {
  const trace = join(mkdtempSync(join(tmpdir(), 'jtrace-keys-')), 'cases.bin');
  lines = writePage(recordLines(trace, 'LineCases', 'mode=merged'), `--source=${workloads}`);
});

// Presses Tab until the focus is on what the selector names.
async function tabTo(page, selector) {
  for (let i = 0; i < 200; ++i) {
    await page.keyboard.press('Tab');
    if (await page.evaluate((wanted) => document.activeElement.matches(wanted), selector)) return;
  }
  assert.fail(`Tab does not reach ${selector}`);
}

async function press(page, ...keys) {
  for (const key of keys) await page.keyboard.press(key);
}

// Marks what must be reached; a press of Tab takes the mark away.
async function markControls(page) {
  return page.evaluate(() => {
    const controls = [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')].filter(
      (each) => !each.disabled && each.getAttribute('tabindex') !== '-1' && each.checkVisibility(),
    );
    controls.forEach((each, i) => (each.dataset.unreached = i));
    return controls.length;
  });
}

// Where the focus is: whether it is in sight and looks other than without it.
function focusedThing(page) {
  return page.evaluate(() => {
    const active = document.activeElement;
    if (active === document.body) return null;
    delete active.dataset.unreached;
    const { outlineStyle, outlineWidth } = getComputedStyle(active);
    const box = active.getBoundingClientRect();
    return {
      what: active.outerHTML.slice(0, 120),
      outlined: outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2,
      seen: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
    };
  });
}

for (const [title, file, states] of [
  ['a mixed trace', () => mixed, [{}, { view: 'flame', 'flame.at': '1' }, { view: 'tree' }, { view: 'graph', 'graph.at': '0', 'graph.root': '0' },
    { view: 'flat' }, { view: 'function' }, { view: 'source' }, { view: 'threads' }, { view: 'timeline', range: '20-60' }]],
  ['groups', () => threads, [{ view: 'tree' }, { view: 'threads' }]],
  ['call sites', () => sites, [{ view: 'flame' }]],
  ['two traces', () => compared, [{}, { view: 'flame', 'flame.at': '1' }, { view: 'flat' }, { view: 'function' }]],
  ['lines', () => lines, [{ view: 'source' }, { view: 'source', 'source.file': '0', 'source.line': '109' }]],
]) {
  for (const state of states) {
    for (const viewport of [{ width: 1280, height: 800 }, { width: 390, height: 760 }]) {
      test(`Tab reaches every control and shows it: ${title} ${new URLSearchParams(state)} ${viewport.width}`, () =>
        withPage(
          file(),
          state,
          async (page) => {
            const count = await markControls(page);
            assert.ok(count > 10, `${count} controls`);
            for (let i = 0; i < count + 2; ++i) {
              await page.keyboard.press('Tab');
              const focused = await focusedThing(page);
              if (focused === null) continue;
              assert.ok(focused.outlined, `no outline: ${focused.what}`);
              assert.ok(focused.seen, `out of sight: ${focused.what}`);
            }
            assert.deepEqual(await page.$$eval('[data-unreached]', (all) => all.map((each) => each.outerHTML)), []);
          },
          { viewport },
        ));
    }
  }
}

test('every view opens by Tab and Enter', () =>
  withPage(mixed, {}, async (page) => {
    const count = await page.$$eval('nav a', (all) => all.length);
    for (let i = 1; i <= count; ++i) {
      await page.reload();
      await tabTo(page, `nav a:nth-child(${i})`);
      await press(page, 'Enter');
      await page.waitForSelector(`nav a:nth-child(${i})[aria-current=page]`);
    }
  }));

test('rows of the call tree open and close, and lead to the function', () =>
  withPage(mixed, { view: 'tree' }, async (page) => {
    const shown = async () => (await tableRows(page)).length;
    await tabTo(page, '.table');
    await press(page, 'Home');
    const all = await shown();
    await press(page, 'ArrowLeft');
    const closed = await shown();
    assert.ok(closed < all, `${closed} of ${all}`);
    await press(page, 'ArrowRight');
    assert.equal(await shown(), all);
    await press(page, 'ArrowDown', 'ArrowDown', 'Shift+Tab');
    await page.evaluate(() => document.body.focus());
    await tabTo(page, '.toolbar button:nth-child(4)');
    await press(page, 'Enter');
    await page.waitForSelector('nav a[href*="view=function"][aria-current=page]');
  }));

test('a frame of the flame graph is chosen, zoomed and opened', () =>
  withPage(mixed, { view: 'flame' }, async (page) => {
    await tabTo(page, '.picture canvas');
    await press(page, 'ArrowDown', 'ArrowDown', 'ArrowDown');
    const chosen = await page.textContent('.selection .name');
    assert.match(chosen, /^app\./);
    assert.ok(await page.isVisible('.mark.selected'));
    await press(page, 'Enter');
    assert.ok(stateOf(page)['flame.at'] !== undefined);
    await tabTo(page, '.selection button');
    await press(page, 'Enter');
    await page.waitForSelector('h2 .name');
    assert.equal(await page.textContent('h2 .name'), chosen);
  }));

test('functions and arcs of the call graph are chosen, arcs with their paths', () =>
  withPage(mixed, { view: 'graph' }, async (page) => {
    await tabTo(page, '.graph-pane');
    await press(page, 'ArrowDown', 'ArrowDown');
    const id = await page.getAttribute('.graph-pane', 'aria-activedescendant');
    const name = await page.getAttribute(`#${id}`, 'data-name');
    assert.equal(await page.textContent('.graph-name'), name);
    await press(page, 'a');
    const arc = await page.textContent('.graph-name');
    assert.match(arc, / → /);
    assert.ok(arc.includes(name));
    assert.ok((await page.$$('.graph-paths li')).length > 0);
    await press(page, 'a');
    assert.notEqual(await page.textContent('.graph-name'), arc);
    await press(page, 'Shift+A');
    assert.equal(await page.textContent('.graph-name'), arc);
    await press(page, 'ArrowDown');
    assert.equal(await page.textContent('.graph-name'), arc.split(' → ')[1]);
  }));

test('an arc of a function shows its paths, and the way goes on to the other end', () =>
  withPage(mixed, { view: 'function' }, async (page) => {
    const from = await page.textContent('h2 .name');
    await tabTo(page, '.arc');
    await press(page, 'Enter');
    assert.ok(stateOf(page)['function.arc'] !== undefined);
    await page.evaluate(() => document.body.focus());
    await tabTo(page, '.go');
    await press(page, 'Enter');
    await page.waitForFunction((name) => document.querySelector('h2 .name').textContent !== name, from);
  }));

test('a part of the run is chosen by the sliders', () =>
  withPage(mixed, { view: 'timeline' }, async (page) => {
    await tabTo(page, '.range-picker input');
    await press(page, 'ArrowRight', 'ArrowRight', 'ArrowRight', 'Tab', 'ArrowLeft');
    assert.match(stateOf(page).range, /^3-\d+$/);
    await tabTo(page, '.range-banner button');
    await press(page, 'Enter');
    assert.equal(stateOf(page).range, undefined);
  }));

test('a group of threads unfolds, the metric, the search and the theme change', () =>
  withPage(threads, { view: 'threads' }, async (page) => {
    await tabTo(page, '.table');
    const before = (await tableRows(page)).length;
    const at = (await tableRows(page)).findIndex(({ name }) => name.includes('*'));
    await press(page, 'Home', ...Array(at).fill('ArrowDown'), 'ArrowRight');
    assert.equal((await tableRows(page)).length, before + 3);
    await page.reload();
    await tabTo(page, '.search input');
    await page.keyboard.type('hashCode');
    assert.equal(stateOf(page).q, 'hashCode');
    await tabTo(page, '.metric select');
    await press(page, 'ArrowDown');
    assert.ok(stateOf(page).m !== undefined);
    await tabTo(page, 'header .icon');
    await press(page, 'Enter');
    assert.equal(stateOf(page).theme, 'dark');
    await tabTo(page, 'header .icon[aria-label=Keys]');
    await press(page, 'Enter');
    await page.waitForSelector('dialog[open]');
    await press(page, 'Enter');
    await page.waitForSelector('dialog[open]', { state: 'detached' });
  }));

test('a picture is saved', () =>
  withPage(
    mixed,
    { view: 'flame' },
    async (page) => {
      await tabTo(page, '[data-save=svg]');
      const [saved] = await Promise.all([page.waitForEvent('download'), press(page, 'Enter')]);
      assert.match(readFileSync(await saved.path(), 'utf8'), /^<svg /);
    },
    { acceptDownloads: true },
  ));

test('two traces: the width, a frame, a routine, its callees', () =>
  withPage(compared, { view: 'flame', m: 'time' }, async (page) => {
    await tabTo(page, '.toolbar .toggle button:nth-child(3)');
    await press(page, 'Enter');
    assert.equal(stateOf(page)['flame.width'], 'either');
    await tabTo(page, '.picture canvas');
    await press(page, 'ArrowDown', 'ArrowDown', 'ArrowDown');
    const chosen = await page.textContent('.selection .name');
    await tabTo(page, '.selection button');
    await press(page, 'Enter');
    await page.waitForSelector('h2 .name');
    assert.equal(await page.textContent('h2 .name'), chosen);
    await tabTo(page, '[data-arc^=e] button');
    await press(page, 'Enter');
    await page.waitForFunction((name) => document.querySelector('h2 .name').textContent !== name, chosen);
  }));

test('lines of a source file', () =>
  withPage(lines, { view: 'source' }, async (page) => {
    await tabTo(page, '.table');
    await press(page, 'ArrowDown', 'Enter');
    await page.waitForSelector('[data-lines]');
    await tabTo(page, '.table');
    await press(page, 'ArrowDown');
    const { 'source.line': line } = stateOf(page);
    assert.ok(line !== undefined);
    await press(page, 'u');
    assert.notEqual(stateOf(page)['source.line'], line);
  }));
