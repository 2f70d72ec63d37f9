// The page in Chromium: every view, the keys, the URL, both themes; hostile names; odd traces.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPainted, stateOf, tableRows, useBrowser, withPage } from './support/browser.mjs';
import { writePage, writeTrace } from './support/post.mjs';
import {
  bigTrace, emptyTrace, eventsOnlyTrace, hostileNames, hostileTrace, mixedTrace, samplesOnlyTrace,
} from './support/traces.mjs';

useBrowser();

const mixed = writePage(mixedTrace());
const tabs = (page) => page.$$eval('nav a', (links) => links.map((link) => new URLSearchParams(link.hash.slice(1)).get('view')));

for (const [title, trace] of [
  ['a mixed trace', mixedTrace],
  ['an empty trace', emptyTrace],
  ['only samples', samplesOnlyTrace],
  ['only events', eventsOnlyTrace],
]) {
  test(`every view opens: ${title}`, () =>
    withPage(writePage(trace()), {}, async (page) => {
      const views = await tabs(page);
      assert.ok(views.length >= 7);
      for (const view of views) {
        await page.click(`nav a[href*="view=${view}"]`);
        await page.waitForSelector(`nav a[href*="view=${view}"][aria-current=page]`);
        assert.equal(stateOf(page).view, view);
        assert.notEqual(await page.textContent('main'), '');
      }
    }));
}

test('badges show what can be trusted', () =>
  withPage(mixed, {}, async (page) => {
    const badge = (id) => page.textContent(`[data-badge=${id}]`);
    assert.match(await badge('invariants'), /4 of 4 invariants hold/);
    assert.match(await badge('merge'), /% of samples placed/);
    assert.equal(await page.textContent('[data-card=samples]'), '5');
  }));

test('the summary has the findings', () => {
  const path = 'a.Main.run()\ta.Text.matches(String)';
  const lines = [
    '0\tmain\tnode\tcalls=1\ta.Main.run()',
    `0\tmain\tnode\tcalls=500\t${path}`,
    `1\tmain\tsample-at*90\t2\t${path}\tJ:a.Main.run()\tJ:a.Text.matches(String)` +
      '\tC:java.util.regex.Pattern.compile(String)',
  ];
  return withPage(writePage(writeTrace(lines, 'ms')), {}, async (page) => {
    const row = '[data-rule=costly-setup]';
    assert.match(
      await page.textContent(row),
      /100\.0 % of time.*a\.Text\.matches\(String\) runs 500 times, all from a\.Main\.run\(\); 100\.0 % of its time is Pattern\.compile/,
    );
    assert.match(await page.textContent(`${row} code`), /^jtrace-post --report=function /);
  });
});

test('the flame graph zooms by click, key and link', () =>
  withPage(mixed, { view: 'flame' }, async (page) => {
    assert.ok(await isPainted(page));
    const canvas = page.locator('canvas');
    // The second row is the threads, hottest first.
    await canvas.click({ position: { x: 20, y: 19 * 2 - 8 } });
    assert.equal(await page.textContent('.selection .name'), 'main');
    assert.equal(stateOf(page)['flame.at'], '0');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    assert.equal(stateOf(page)['flame.at'], '1');
    assert.equal(await page.textContent('.selection .name'), 'app.Main.run(int)');
    await page.goBack();
    assert.equal(stateOf(page)['flame.at'], '0');
    await page.keyboard.press('0');
    assert.equal(stateOf(page)['flame.at'], undefined);
  }));

test('the tooltip has calls, time and ticks with their unit', () =>
  withPage(mixed, { view: 'flame', m: 'ticks' }, async (page) => {
    await page.locator('canvas').hover({ position: { x: 20, y: 19 * 3 - 8 } });
    const text = await page.textContent('.tooltip');
    assert.match(text, /app\.Main\.run\(int\)/);
    assert.match(text, /calls1/);
    assert.match(text, /sample ticks4/);
    assert.match(text, /time\d+ ns/);
    assert.match(await page.textContent('.unit'), /width: sample ticks/);
    await page.selectOption('.metric select', 'metric:alloc.bytes');
    assert.match(await page.textContent('.unit'), /width: bytes/);
  }));

test('keys: invert, callers, tree, dark, views, help', () =>
  withPage(mixed, { view: 'flame' }, async (page) => {
    const press = async (key) => {
      await page.keyboard.press(key);
      return stateOf(page);
    };
    assert.equal((await press('i'))['flame.as'], 'flame');
    assert.ok(await isPainted(page));
    assert.equal((await press('i'))['flame.as'], undefined);
    assert.equal((await press('r'))['flame.of'], 'callers');
    assert.ok(await isPainted(page));
    assert.equal((await press('t')).view, 'tree');
    assert.equal((await press('t')).view, 'flame');
    assert.equal((await press('1')).view, 'summary');
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    assert.equal(await theme(), 'light');
    assert.equal((await press('d')).theme, 'dark');
    await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
    await press('?');
    await page.waitForSelector('dialog[open]');
    await press('Escape');
    await page.waitForSelector('dialog[open]', { state: 'detached' });
  }));

test('the theme is the system\'s unless the URL says another', async () => {
  const theme = (page) => page.evaluate(() => document.documentElement.dataset.theme);
  await withPage(mixed, {}, async (page) => assert.equal(await theme(page), 'dark'), { colorScheme: 'dark' });
  await withPage(mixed, { theme: 'light' }, async (page) => assert.equal(await theme(page), 'light'), {
    colorScheme: 'dark',
  });
});

test('search: matched percent, next match, escape, a wrong expression', () =>
  withPage(mixed, { view: 'flame', m: 'ticks' }, async (page) => {
    await page.keyboard.press('Control+f');
    await page.keyboard.type('Work|memcpy');
    // 6 of 11 ticks.
    assert.match(await page.textContent('.search output'), /54\.5 % matched, 2 routines/);
    assert.equal(stateOf(page).q, 'Work|memcpy');
    await page.keyboard.press('Enter');
    const selected = () => page.textContent('.selection .name');
    await page.keyboard.press('n');
    assert.equal(await selected(), 'app.Work.step(java.util.List)');
    const seen = new Set();
    for (let i = 0; i < 6; ++i) {
      seen.add(await selected());
      await page.keyboard.press('n');
    }
    assert.deepEqual([...seen].sort(), ['app.Work.step(java.util.List)', 'memcpy']);
    await page.keyboard.press('Shift+N');
    await page.keyboard.press('Escape');
    assert.equal(stateOf(page).q, undefined);
    await page.keyboard.press('Control+f');
    await page.keyboard.type('(');
    assert.match(await page.textContent('.search output'), /Invalid regular expression/);
  }));

test('the list of routines is filtered by the search, sorted by a click, opened by Enter', () =>
  withPage(mixed, { view: 'flat', m: 'ticks' }, async (page) => {
    await page.click('[role=columnheader] button:has-text("calls")');
    const calls = (await tableRows(page)).map((row) => row.calls);
    assert.deepEqual(calls, [...calls].sort((a, b) => b - a));
    assert.equal(stateOf(page)['flat.sort'], 'calls');
    await page.click('[role=columnheader] button:has-text("calls")');
    const upwards = (await tableRows(page)).map((row) => row.calls);
    assert.deepEqual(upwards, [...upwards].sort((a, b) => a - b));
    await page.fill('.search input', 'Pool');
    assert.deepEqual((await tableRows(page)).map((row) => row.name), ['app.Pool.loop()']);
    await page.focus('.table');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForSelector('h2 .name');
    assert.equal(await page.textContent('h2 .name'), 'app.Pool.loop()');
  }));

test('the call tree opens and closes by arrow keys, and by link', () =>
  withPage(mixed, { view: 'tree', m: 'ticks' }, async (page) => {
    const shown = async () => (await tableRows(page)).length;
    // Where the hottest path ends is chosen.
    assert.match(await page.textContent('[role=row][aria-selected=true]'), /memcpy/);
    await page.focus('.table');
    await page.keyboard.press('Home');
    const before = await shown();
    await page.keyboard.press('ArrowLeft');
    const closed = await shown();
    assert.ok(closed < before);
    assert.ok(stateOf(page)['tree.open']);
    await page.keyboard.press('ArrowRight');
    assert.equal(await shown(), before);
    await page.keyboard.press('*');
    assert.ok((await tableRows(page)).some((row) => row.name === 'memcpy'));
    await page.goto(`${page.url().replace(/#.*/, '')}#view=tree&tree.at=4`);
    await page.waitForSelector('[role=row][aria-selected=true]');
  }));

test('a function: an arc shows its calling paths, which lead to the flame graph', () =>
  withPage(mixed, { view: 'flat', m: 'ticks', q: 'Work' }, async (page) => {
    await page.dblclick('.table-body [role=row]');
    await page.waitForSelector('.arc');
    assert.equal(await page.getAttribute('[data-card=calls]', 'data-value'), '4');
    await page.click('.arc:has(.name[title="app.Pool.loop()"])');
    const path = await page.textContent('.paths .path');
    assert.match(path, /pool-1.*Pool\.loop.*Work\.step/);
    await page.click('.paths button');
    await page.waitForSelector('canvas');
    assert.equal(await page.textContent('.selection .name'), 'app.Work.step(java.util.List)');
  }));

test('the timeline shows what happened', () =>
  withPage(mixed, { view: 'timeline' }, async (page) => {
    assert.ok(await isPainted(page));
    const totals = await page.textContent('.totals');
    for (const word of [/running: 11/, /in collections: 5 ns/, /JIT, \w+: 1/, /Classes, loaded: 1/]) {
      assert.match(totals, word);
    }
    assert.match(await page.textContent('main table'), /Young pause/);
  }));

test('hostile names are shown as text', () =>
  withPage(writePage(hostileTrace()), { view: 'flat' }, async (page) => {
    const title = await page.title();
    const shown = (await tableRows(page)).map((row) => row.name);
    assert.deepEqual(shown.sort(), [...hostileNames].sort());
    for (const view of await tabs(page)) {
      await page.click(`nav a[href*="view=${view}"]`);
      await page.waitForTimeout(50);
    }
    assert.equal(await page.$('main script, main img, main b[onmouseover]'), null);
    assert.match(title, /jtrace/);
    await page.goto(`${page.url().replace(/#.*/, '')}#view=function&fn=0`);
    await page.waitForSelector('h2 .name');
  }));

test('200,000 nodes and more open, and omitted nodes are reported', () =>
  withPage(writePage(bigTrace(230_000)), {}, async (page) => {
    assert.match(await page.textContent('.notice'), /leaves out [\d,]+ of 230,001 nodes/);
    for (const view of ['flame', 'tree', 'flat', 'function']) {
      await page.click(`nav a[href*="view=${view}"]`);
      await page.waitForSelector(`nav a[href*="view=${view}"][aria-current=page]`);
    }
    await page.click('nav a[href*="view=flame"]');
    assert.match(await page.textContent('.not-drawn'), /[\d,]+ frames too narrow to draw/);
    assert.ok(await isPainted(page));
  }));

test('everything is within the window at 800 pixels, and on a phone', () =>
  withPage(mixed, {}, async (page) => {
    for (const [width, height] of [[800, 700], [390, 760]]) {
      await page.setViewportSize({ width, height });
      for (const view of await tabs(page)) {
        await page.click(`nav a[href*="view=${view}"]`);
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(over <= 0, `${view} at ${width}: ${over} pixels too wide`);
      }
      // The number that a table is sorted by is in sight beside the name.
      await page.click('nav a[href*="view=tree"]');
      const { x, width: wide } = await page.locator('.table-body [data-column=total]').first().boundingBox();
      assert.ok(x + wide <= width + 1, `${x + wide}`);
    }
  }));

test('the header keeps its buttons beside a metric with a long name', () => {
  const trace = writeTrace([
    '0\tmain\tenter\ta.f()',
    `1\tmain\tmetric\tcustomers.${'very.'.repeat(30)}long\t1`,
    '2\tmain\texit\ta.f()',
  ]);
  return withPage(
    writePage(trace),
    { q: 'f' },
    async (page) => {
      const { x, width } = await page.locator('.metric select').boundingBox();
      assert.ok(width <= 200 && x + width < 800);
      const help = await page.locator('header button[aria-label=Keys]').boundingBox();
      assert.ok(help.x >= 0 && help.x + help.width <= 800);
      assert.match(await page.textContent('.search output'), / 1 routine$/);
    },
    { viewport: { width: 800, height: 700 } },
  );
});

test('a search that would take for ever stops, also from a link', () =>
  withPage(writePage(hostileTrace()), { view: 'flat', q: '(.*x){25}$' }, async (page) => {
    assert.match(await page.textContent('.search output'), / 0 routines$/);
    assert.deepEqual(await tableRows(page), []);
  }));
