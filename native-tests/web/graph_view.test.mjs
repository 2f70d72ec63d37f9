// The call graph in Chromium.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stateOf, useBrowser, withPage } from './support/browser.mjs';
import { csv, golden, writePage, writeTrace } from './support/post.mjs';
import { emptyTrace, eventsOnlyTrace, hostileNames, hostileTrace, mixedTrace } from './support/traces.mjs';

useBrowser();

const view = { view: 'graph' };
const table2 = writePage(golden('table2'));
const figure = writePage(golden('fig18a'));
const mixedFile = mixedTrace();
const mixed = writePage(mixedFile);

// A hundred functions in a row, f1 the cheapest; each calls helper.
function manyTrace() {
  const lines = [];
  for (let i = 1; i <= 100; ++i) {
    lines.push(`0\tmain\tnode\tcalls=1,base=${i}\tapp.Many.f${i}()`);
    lines.push(`0\tmain\tnode\tcalls=${i},base=1\tapp.Many.f${i}()\tapp.Many.helper()`);
  }
  return writeTrace(lines);
}
const manyFile = manyTrace();
const many = writePage(manyFile);

const nodesOf = (page) => page.$$eval('.scene .node', (nodes) => nodes.map((node) => node.dataset.name));
const arcsOf = (page) =>
  page.$$eval('.scene .river', (arcs) =>
    arcs.map(({ dataset }) => [dataset.caller, dataset.callee, dataset.calls, dataset.inclusive, dataset.width].join(' | ')),
  );
const reportedArcs = (trace, ...args) =>
  csv('graph', trace, ...args).map((row) =>
    [row.caller, row.callee, row.calls, row.inclusive, row.width.toFixed(2)].join(' | '),
  );
const node = (page, name) => page.locator(`.scene .node[data-name="${name}"]`);
const river = (page, caller, callee) => page.locator(`.river[data-caller="${caller}"][data-callee="${callee}"]`);
const settled = (page, of, expected) =>
  page.waitForFunction(([selector, count]) => document.querySelectorAll(selector).length === count, [of, expected]);

for (const [title, file, trace] of [
  ['a figure', figure, golden('fig18a')],
  ['a mixed trace', mixed, mixedFile],
  ['a hundred functions', many, manyFile],
]) {
  test(`arcs, calls and widths are those of --report=graph: ${title}`, () =>
    withPage(file, view, async (page) => {
      await page.waitForSelector('.scene .node');
      for (const widths of ['adaptive', 'none', 'linear', 'logarithmic', 'exponential']) {
        await page.selectOption('.graph-toolbar select >> nth=0', widths);
        assert.equal(stateOf(page)['graph.widths'], widths);
        const expected = reportedArcs(trace, `--widths=${widths}`).sort();
        await page.waitForFunction(
          ([caller, callee, wanted]) =>
            [...document.querySelectorAll('.river')].some(
              ({ dataset }) => dataset.caller === caller && dataset.callee === callee && dataset.width === wanted,
            ),
          [0, 1, 4].map((i) => expected[0].split(' | ')[i]),
        );
        assert.deepEqual((await arcsOf(page)).sort(), expected);
      }
    }));
}

test('it begins with thirty functions and counts the rest; the filter changes that', () =>
  withPage(many, view, async (page) => {
    const rest = page.locator('.hidden-rest');
    const slider = page.locator('.filter input[type=range]');
    const percent = await slider.inputValue();
    const shown = new Set(csv('graph', manyFile).map((row) => row.callee)).size;
    assert.ok(shown > 20 && shown <= 30);
    assert.equal((await nodesOf(page)).length, shown + 1);
    assert.match(await rest.textContent(), new RegExp(`${shown} functions; ${101 - shown} functions below ${percent} % are collapsed into their callers`));
    await slider.fill('0');
    await settled(page, '.scene .node', 102);
    assert.equal(stateOf(page)['graph.filter'], '0');
    assert.equal(await rest.textContent(), '101 functions');
    await page.locator('.filter input[type=number]').fill('20');
    await page.keyboard.press('Enter');
    await settled(page, '.scene .node', 1);
    assert.match(await rest.textContent(), /0 functions; 101 functions below 20 %/);
    // Twenty is the most.
    assert.equal(await slider.getAttribute('max'), '20');
  }));

test('a function becomes the whole and back', () =>
  withPage(table2, view, async (page) => {
    await node(page, 'B').click();
    assert.equal(await page.textContent('.graph-name'), 'B');
    await page.keyboard.press('r');
    await settled(page, '.scene .node', 2);
    assert.ok(stateOf(page)['graph.root'] !== undefined);
    assert.match(await node(page, 'B').textContent(), /100\.0 %/);
    const expected = reportedArcs(golden('table2'), '--root=B').filter((row) => !row.startsWith('[all threads]'));
    assert.deepEqual(await arcsOf(page), expected);
    await page.click('.graph-toolbar .root');
    await settled(page, '.scene .node', 7);
    await page.goBack();
    await settled(page, '.scene .node', 2);
  }));

test('an arc shows its calls, its share and the paths', () =>
  withPage(table2, view, async (page) => {
    await river(page, 'C', 'D').locator('.reach').click({ force: true });
    assert.equal(await page.textContent('.graph-name'), 'C → D');
    const details = await page.textContent('.graph-details');
    assert.match(details, /10\.0 s · 9\.89 %/);
    assert.match(details, /calls40/);
    assert.match(details, /main-thread > start > main > A > C > D/);
  }));

test('recursion is drawn as a bow', () =>
  withPage(figure, { ...view, 'graph.filter': '0' }, async (page) => {
    const loop = river(page, 'B', 'B');
    assert.match(await loop.getAttribute('class'), /\bback\b/);
    const path = await loop.locator('.stream').getAttribute('d');
    const [, ...numbers] = path.match(/^M([-\d.]+),([-\d.]+)C([-\d.]+),([-\d.]+) ([-\d.]+),([-\d.]+) ([-\d.]+),([-\d.]+)$/);
    const [x1, y1, , bow, , , x2, y2] = numbers.map(Number);
    assert.equal(y1, y2); // it begins and ends at the box's top
    assert.ok(bow < y1 && x1 !== x2);
    // One of A → B and B → A points back.
    const back = await page.$$eval('.scene .river.back', (arcs) => arcs.map(({ dataset }) => `${dataset.caller}>${dataset.callee}`));
    assert.equal(back.length, 2);
    assert.ok(back.includes('B>B') && (back.includes('A>B') || back.includes('B>A')));
  }));

test('samples look different from events', () =>
  withPage(mixed, { ...view, 'graph.filter': '0' }, async (page) => {
    const dashes = (name) => node(page, name).locator('.box').evaluate((box) => getComputedStyle(box).strokeDasharray);
    assert.equal(await dashes('app.Main.run(int)'), 'none');
    assert.notEqual(await dashes('memcpy'), 'none');
    assert.notEqual(await dashes('Unknown::frame()'), 'none');
  }));

test('three states of detail by click, button and key', () =>
  withPage(table2, { ...view, 'graph.filter': '20' }, async (page) => {
    const state = (name) => node(page, name).locator('.detail').getAttribute('data-detail');
    assert.equal(await state('A'), 'filtered');
    assert.equal(await page.locator('.scene .node[data-name=D] .detail').count(), 0); // calls nothing
    await node(page, 'A').click();
    await page.click('.graph-details button:has-text("Collapse")');
    await settled(page, '.scene .node', 4);
    assert.equal(await state('A'), 'collapsed');
    assert.match(await page.textContent('.graph-details'), /collapsed into it90\.0 s/);
    await page.locator('.graph-pane').focus();
    await page.keyboard.press(']');
    await settled(page, '.scene .node', 7);
    await page.keyboard.press(']');
    await page.waitForSelector('.scene .node[data-name=A] .detail[data-detail=all]');
    await node(page, 'A').locator('.detail .reach').click();
    await settled(page, '.scene .node', 4);
    await page.reload();
    await settled(page, '.scene .node', 4);
  }));

test('search marks what it finds', () =>
  withPage(mixed, { ...view, 'graph.filter': '0', q: 'Work' }, async (page) => {
    const marked = await page.$$eval('.scene .node.match', (nodes) => nodes.map((each) => each.dataset.name));
    assert.deepEqual(marked, ['app.Work.step(java.util.List)']);
    assert.equal(await page.locator('.overview .match').count(), 1);
    await page.locator('.graph-pane').focus();
    await page.keyboard.press('n');
    assert.equal(await page.textContent('.graph-name'), 'app.Work.step(java.util.List)');
  }));

test('arrow keys go along the arcs; Enter and a double click open the function', () =>
  withPage(table2, view, async (page) => {
    await page.locator('.graph-pane').focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
    assert.equal(await page.textContent('.graph-name'), 'B');
    await page.keyboard.press('ArrowUp');
    assert.equal(await page.textContent('.graph-name'), 'A');
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('.graph-name').count(), 0);
    await node(page, 'C').dblclick();
    await page.waitForSelector('section.function');
    assert.equal(await page.textContent('section.function h2 .name'), 'C');
    await page.goBack();
    await node(page, 'D').click();
    await page.keyboard.press('Enter');
    await page.waitForSelector('section.function');
    assert.equal(await page.textContent('section.function h2 .name'), 'D');
  }));

test('the pane is moved and zoomed by mouse, wheel and keys, and in the overview', () =>
  withPage(table2, view, async (page) => {
    const camera = () => page.getAttribute('.graph-picture > g', 'transform');
    const seen = [await camera()];
    const changed = async () => {
      await page.waitForFunction(
        (old) => document.querySelector('.graph-picture > g').getAttribute('transform') !== old,
        seen.at(-1),
      );
      seen.push(await camera());
    };
    const box = await page.locator('.graph-pane').boundingBox();
    await page.mouse.move(box.x + 30, box.y + 30);
    await page.mouse.wheel(0, -400);
    await changed();
    await page.mouse.down();
    await page.mouse.move(box.x + 90, box.y + 60, { steps: 3 });
    await page.mouse.up();
    await changed();
    await page.keyboard.press('Tab');
    await page.locator('.graph-pane').focus();
    await page.keyboard.press('Shift+ArrowDown');
    await changed();
    await page.keyboard.press('-');
    await changed();
    const small = await page.locator('.overview').boundingBox();
    await page.mouse.click(small.x + small.width / 2, small.y + 10);
    await changed();
    await page.keyboard.press('0');
    await page.click('.graph-toolbar button:has-text("Fit")');
    await changed();
  }));

test('a link to a function shows it', () =>
  withPage(many, { ...view, 'graph.filter': '0' }, async (page) => {
    const visible = (name) =>
      node(page, name).evaluate((each) => {
        const box = each.getBoundingClientRect();
        const pane = document.querySelector('.graph-pane').getBoundingClientRect();
        return box.left >= pane.left && box.right <= pane.right && box.top >= pane.top && box.bottom <= pane.bottom;
      });
    const names = await nodesOf(page);
    const hidden = [];
    for (const name of names) if (!(await visible(name))) hidden.push(name);
    assert.ok(hidden.length > 10);
    const last = hidden.at(-1);
    await node(page, last).dispatchEvent('click');
    assert.ok(stateOf(page)['graph.at'] !== undefined);
    await page.reload();
    await page.waitForSelector('.scene .node.chosen');
    assert.ok(await visible(last));
  }));

test('data stand to the left and right of the names', () =>
  withPage(table2, { ...view, 'graph.left': 'calls', 'graph.right': 'self %' }, async (page) => {
    assert.match(await node(page, 'D').textContent(), /80×.*D.*39\.6 %/);
    const order = await node(page, 'D').locator('text').evaluateAll((texts) => texts.map((text) => text.getBoundingClientRect()).map(({ left, right }) => [left, right]));
    assert.equal(order.length, 3);
    for (let i = 1; i < order.length; ++i) assert.ok(order[i][0] >= order[i - 1][1]);
  }));

test('labels stay inside their boxes, and boxes do not overlap', () =>
  withPage(mixed, { ...view, 'graph.filter': '0', 'graph.left': 'total', 'graph.right': 'self %' }, async (page) => {
    const boxes = await page.$$eval('.scene .node', (nodes) =>
      nodes.map((each) => {
        const bounds = each.querySelector('.box').getBoundingClientRect();
        const texts = [...each.querySelectorAll('text')].map((text) => text.getBoundingClientRect());
        return {
          left: bounds.left, right: bounds.right, top: bounds.top, bottom: bounds.bottom,
          holds: texts.every((text) => text.left >= bounds.left && text.right <= bounds.right),
        };
      }),
    );
    assert.ok(boxes.length > 8);
    boxes.forEach((box, i) => {
      assert.ok(box.holds);
      for (const other of boxes.slice(i + 1)) {
        assert.ok(box.right <= other.left || other.right <= box.left || box.bottom <= other.top || other.bottom <= box.top);
      }
    });
  }));

test('light and dark', () =>
  withPage(table2, { ...view, theme: 'light' }, async (page) => {
    const colours = () =>
      page.$eval('.scene .node[data-name=B]', (each) => {
        const lightness = (colour) => colour.match(/[\d.]+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) / 3;
        return [
          lightness(getComputedStyle(each.querySelector('.box')).fill),
          lightness(getComputedStyle(each.querySelector('.label')).fill),
        ];
      });
    const [fill, text] = await colours();
    assert.ok(fill > 180 && text < 90, `${fill} ${text}`);
    await page.keyboard.press('d');
    await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
    const [darkFill, lightText] = await colours();
    assert.ok(darkFill < 90 && lightText > 180, `${darkFill} ${lightText}`);
  }));

test('hostile names are names', () =>
  withPage(writePage(hostileTrace()), { ...view, 'graph.filter': '0' }, async (page) => {
    const shown = new Set(await nodesOf(page));
    for (const name of hostileNames) assert.ok(shown.has(name), name.slice(0, 40));
    assert.equal(await page.locator('.graph script, .graph img, .graph b, .graph i').count(), 0);
    await node(page, '__proto__').click();
    assert.equal(await page.textContent('.graph-name'), '__proto__');
  }));

for (const [title, trace] of [['nothing', emptyTrace], ['only calls', eventsOnlyTrace]]) {
  test(`a trace of ${title}`, () =>
    withPage(writePage(trace()), view, async (page) => {
      await page.waitForSelector('.scene .node');
      assert.ok((await nodesOf(page)).includes('[all threads]'));
    }));
}
