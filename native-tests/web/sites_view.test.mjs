// Calls by the line that makes them (sites=on), as the page shows them in Chromium.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stateOf, tableRows, useBrowser, withPage } from './support/browser.mjs';
import { writePage } from './support/post.mjs';
import { mixedTrace, sitesTrace } from './support/traces.mjs';

useBrowser();

const file = writePage(sitesTrace());
const toggle = (page) => page.locator('label.sites input');
const namesOf = (page, selector) => page.$$eval(selector, (names) => names.map((name) => name.textContent));

test('the switch is there where lines were recorded', async () => {
  await withPage(file, {}, async (page) => assert.ok(await toggle(page).isChecked()));
  await withPage(writePage(mixedTrace()), {}, async (page) => {
    assert.equal(await toggle(page).count(), 0);
    await page.keyboard.press('l');
    assert.equal(stateOf(page).sites, undefined);
  });
});

test('the call tree has a row for each line that calls', () =>
  withPage(file, { view: 'tree', m: 'calls' }, async (page) => {
    await page.waitForSelector('.table-body .site');
    const before = await namesOf(page, '.table-body .site');
    assert.ok([':12 ', ':15 ', ':20 ', '@17 '].every((line) => before.includes(line)), before.join());
    const rows = (await tableRows(page)).length;
    await page.keyboard.press('l');
    await page.waitForFunction(() => document.querySelector('.table-body .site') === null);
    assert.equal(stateOf(page).sites, 'off');
    assert.ok((await tableRows(page)).length < rows);
    await toggle(page).click();
    await page.waitForSelector('.table-body .site');
    assert.equal(stateOf(page).sites, undefined);
  }));

test('a function has its callers and callees by line', () =>
  withPage(file, { view: 'function', m: 'calls', q: 'step' }, async (page) => {
    await page.click('.found button');
    await page.waitForSelector('.arc');
    const callers = () => page.$$eval('.sides .arcs:first-child .arc', (list) => list.map((arc) => arc.textContent));
    assert.deepEqual((await namesOf(page, '.sides .arcs:first-child .site')).sort(), [':12', ':15', '@17']);
    await page.click('.arc:has(.name[title="app.Main.run(int):12"])');
    assert.match(await page.textContent('.paths .path'), /Main\.run:12.*Work\.step/);
    await page.keyboard.press('l');
    await page.waitForFunction(() => document.querySelectorAll('.sides .arcs:first-child .arc').length === 1);
    // Of 28 calls in step() and below, 19 are of step().
    assert.match((await callers())[0], /28/);
    assert.equal(stateOf(page)['function.arc'], undefined);
  }));

test('the call graph has an arc for each line, with the line beside it', () =>
  withPage(file, { view: 'graph', m: 'calls', 'graph.filter': '0' }, async (page) => {
    await page.waitForSelector('.scene .river', { state: 'attached' });
    const lines = () =>
      page.$$eval('.scene .river', (arcs) => arcs.map(({ dataset }) => `${dataset.line} ${dataset.calls}`).sort());
    const drawn = [':12', ':15', ':20', ':33', ':41', ':42', ':43', '@17'];
    const calls = [7, 5, 2, 9, 8, 8, 8, 7];
    assert.deepEqual(await lines(), [' 1', ...drawn.map((line, i) => `${line} ${calls[i]}`)]);
    assert.deepEqual((await namesOf(page, '.river .line')).sort(), drawn);
    // The texts of several arcs between two functions do not overlap.
    const boxes = await page.$$eval('.river .line', (texts) =>
      texts.map((text) => text.getBoundingClientRect()).map(({ left, right, top, bottom }) => ({ left, right, top, bottom })),
    );
    boxes.forEach((a, i) =>
      boxes.slice(i + 1).forEach((b) =>
        assert.ok(a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top),
      ),
    );
    await page.locator('.river[data-line=":15"] .reach').click({ force: true });
    assert.equal(await page.textContent('.graph-name'), 'app.Main.run(int):15 → app.Work.step(long)');
    assert.match(await page.textContent('.graph-details'), /main > app\.Main\.run\(int\):15 > app\.Work\.step\(long\)/);
    assert.match(stateOf(page)['graph.at'], /p30$/);
    await page.keyboard.press('l');
    await page.waitForFunction(() => document.querySelectorAll('.scene .river').length === 5);
    assert.deepEqual(await lines(), [' 1', ' 19', ' 2', ' 24', ' 9']);
  }));

test('the flame graph names the line, in either direction', () =>
  withPage(file, { view: 'flame', m: 'calls', 'flame.at': '2' }, async (page) => {
    const name = await page.getAttribute('.selection .name', 'title');
    assert.match(await page.textContent('.selection'), /called from.*app\.Main\.run\(int\):/);
    await page.keyboard.press('l');
    await page.waitForFunction(() => !document.querySelector('.selection').textContent.includes('called from'));
    // The same method, without the line.
    assert.equal(stateOf(page)['flame.at'], '2');
    assert.equal(await page.textContent('.selection .name'), name);
  }));
