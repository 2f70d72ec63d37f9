// Groups of threads, folded frames and the headline, as the page shows them in Chromium.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { stateOf, tableRows, useBrowser, withPage } from './support/browser.mjs';
import { changedPage, csv, writePage } from './support/post.mjs';
import { emptyTrace, threadsTrace, timesTrace } from './support/traces.mjs';

useBrowser();

const trace = threadsTrace();
const file = writePage(trace);
const roots = async (page) => (await tableRows(page)).filter(({ level }) => level === 0).map(({ name }) => name).sort();
const totalOf = async (page) => (await tableRows(page)).filter(({ level }) => level === 0).reduce((sum, { total }) => sum + total, 0);
const compilers = ['C1 CompilerThread0', 'C2 CompilerThread0'];
const pool = ['pool-1-thread-1', 'pool-1-thread-2', 'pool-1-thread-30'];

test('threads are merged by their groups at first, and apart by a key, a switch, or one group', () =>
  withPage(file, { view: 'tree', m: 'time' }, async (page) => {
    assert.deepEqual(await roots(page), [...compilers, 'main', 'pool-*-thread-*', 'pool-thread']);
    const whole = await totalOf(page);
    await page.keyboard.press('g');
    await page.waitForFunction(() => location.hash.includes('threads=all'));
    assert.deepEqual(await roots(page), [...compilers, 'main', ...pool, 'pool-thread']);
    assert.equal(await totalOf(page), whole);
    await page.click('label.groups input');
    assert.equal(stateOf(page).threads, undefined);
    await page.click('.table-body [role=row]:has-text("pool-*-thread-*")');
    await page.click('button:has-text("Its 3 threads")');
    assert.deepEqual(await roots(page), [...compilers, 'main', ...pool, 'pool-thread']);
    await page.click('.table-body [role=row]:has-text("pool-1-thread-2")');
    await page.click('button:has-text("Merge its group")');
    assert.equal((await roots(page)).length, 5);
  }));

test('the table of threads unfolds a group by arrow keys', () =>
  withPage(file, { view: 'threads', m: 'time' }, async (page) => {
    const names = async () => (await tableRows(page)).map(({ name }) => name);
    assert.equal((await names())[0], 'pool-*-thread-*');
    await page.focus('.table');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    assert.deepEqual((await names()).slice(0, 4), ['pool-*-thread-*', ...pool.slice().reverse()]);
    await page.keyboard.press('ArrowLeft');
    assert.equal((await names()).length, 5);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.picture canvas');
    assert.equal(await page.textContent('.selection .name'), 'pool-*-thread-*');
  }));

test('frames fold by keys and buttons, in the tree and the flame graph, and no sum changes', () =>
  withPage(file, { view: 'tree', m: 'ticks', threads: 'all' }, async (page) => {
    const names = async () => new Set((await tableRows(page)).map(({ name }) => name));
    const whole = await totalOf(page);
    assert.ok((await names()).has('java.util.HashMap.get(Object)'));
    await page.keyboard.press('j');
    await page.waitForFunction(() => location.hash.includes('fold=jdk'));
    assert.ok((await names()).has('[JDK]'));
    assert.equal(await totalOf(page), whole);
    await page.keyboard.press('f');
    assert.equal(stateOf(page).fold, 'jdk.jvm.native');
    assert.equal(await totalOf(page), whole);
    await page.click('nav a[href*="view=flame"]');
    await page.waitForSelector('[aria-label=Fold] button[aria-pressed=true]');
    await page.click('[aria-label=Fold] button:has-text("JDK")');
    assert.equal(stateOf(page).fold, 'jvm.native');
    await page.keyboard.press('f');
    await page.keyboard.press('f');
    assert.equal(stateOf(page).fold, undefined);
  }));

test('a link to a node leads to it, whatever is merged', () =>
  withPage(file, { view: 'flame', m: 'ticks', fold: 'native' }, async (page) => {
    const at = csv('tree', trace).findIndex(({ name }) => name === 'memcpy');
    for (const [state, name] of [
      [`fold=native&flame.at=${at}`, '[native]'],
      [`threads=all&flame.at=${at}`, 'memcpy'],
      [`fold=native.jvm&flame.at=${at}`, '[native]'],
    ]) {
      await page.evaluate((hash) => (location.hash = hash), `view=flame&m=ticks&${state}`);
      await page.waitForFunction((text) => document.querySelector('.selection .name').textContent === text, name);
    }
  }));

test('the summary answers first, in sight at 1280×800', () =>
  withPage(
    file,
    {},
    async (page) => {
      const table = csv('headline', trace);
      const where = table.filter(({ list, amount }) => list === 'where' && amount > 0);
      const shown = await page.$$eval('.consumers li', (rows) => rows.map(({ dataset }) => Number(dataset.value)));
      assert.deepEqual(shown, where.map(({ amount }) => amount).sort((a, b) => b - a));
      for (const [list, title] of [['heaviest', /heaviest methods/], ['called', /Called most/]]) {
        const panel = page.locator('.headline section', { has: page.locator('h3', { hasText: title }) });
        const names = await panel.locator('.name').evaluateAll((found) => found.map(({ title: name }) => name));
        assert.deepEqual(names, table.filter((row) => row.list === list).slice(0, 5).map(({ name }) => name));
        const { y, height } = await panel.boundingBox();
        assert.ok(y + height <= 800, `${title}: ${y + height}`);
      }
      await page.click('.methods button');
      assert.equal(stateOf(page).view, 'function');
    },
    { viewport: { width: 1280, height: 800 } },
  ));

test('without numbers there is no headline', () =>
  withPage(writePage(emptyTrace()), {}, async (page) => {
    assert.equal(await page.$('.headline section'), null);
  }));

test('a part of the run, chosen in the timeline, is what all views show', () =>
  withPage(writePage(timesTrace()), { view: 'timeline' }, async (page) => {
    await page.waitForFunction(() => document.querySelector('.bands canvas').clientWidth > 1000);
    const canvas = await page.locator('.bands canvas').boundingBox();
    // The bars are within margins of 12 pixels.
    const x = (share) => canvas.x + 12 + share * (canvas.width - 24);
    await page.mouse.move(x(0.52), canvas.y + 50);
    await page.mouse.down();
    await page.mouse.move(x(0.7), canvas.y + 50);
    await page.mouse.move(x(1), canvas.y + 50);
    assert.equal(stateOf(page).range, undefined);
    await page.mouse.up();
    await page.waitForURL(/range=/); // on a busy machine it is known here a little later
    assert.match(stateOf(page).range, /^\d+-\d+$/);
    assert.match(await page.textContent('.range-banner'), /Samples from .* ns to .* ns.*of all\. Calls\s+and exact times/);
    await page.click('nav a[href*="view=tree"]');
    await page.keyboard.press('g');
    const rows = await tableRows(page);
    const total = (name) => rows.find((row) => row.name === name)?.total;
    // Of 1 to 10 at 0, 100, … 900: the last five, or four if the range begins after 500.
    assert.equal(total('main'), rows.find((row) => row.name === 'app.A.second()')?.total);
    assert.ok([40, 34].includes(total('main')), `${total('main')}`);
    for (const view of ['summary', 'flame', 'graph', 'flat', 'function', 'threads']) {
      await page.click(`nav a[href*="view=${view}"]`);
      await page.waitForSelector(`nav a[href*="view=${view}"][aria-current=page]`);
      assert.ok(await page.isVisible('.range-banner'));
    }
    await page.keyboard.press('Escape');
    await page.waitForSelector('.range-banner', { state: 'detached' });
    await page.click('nav a[href*="view=timeline"]');
    await page.focus('.range-picker input');
    await page.keyboard.press('ArrowRight');
    assert.match(stateOf(page).range, /^[1-9]\d*-/);
    await page.click('.range-banner button');
    assert.equal(stateOf(page).range, undefined);
  }));

test('the flame graph is saved as a picture', () =>
  withPage(file, { view: 'flame', m: 'ticks' }, async (page) => {
    await page.waitForSelector('.picture canvas');
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('s')]);
    assert.match(download.suggestedFilename(), /^[\w.-]+-samples\.svg$/);
    const text = readFileSync(await download.path(), 'utf8');
    const wrong = await page.evaluate(
      (svg) => new DOMParser().parseFromString(svg, 'image/svg+xml').querySelector('parsererror')?.textContent,
      text,
    );
    assert.equal(wrong, undefined);
    assert.match(text, /<title>pool-\*-thread-\*: 12, 9\.\d+ %<\/title>/);
  }));

test('findings are listed if the data has them, as text', () => {
  const finding = { share: '12.5 %', of: 'time', suggestion: 'do less', next: 'jtrace-post --report=tree' };
  const findings = [{ ...finding, rule: 'a-rule', finding: '<b>a.A.run()</b> is slow', evidence: '7 times' }];
  return withPage(changedPage(file, { findings }), {}, async (page) => {
    assert.match(await page.textContent('[data-rule=a-rule]'), /12\.5 % of time<b>a\.A\.run\(\)<\/b> is slow7 times · do less/);
    assert.equal(await page.textContent('[data-rule=a-rule] code'), finding.next);
  });
});
