// The heatmap: each sample is in the cell of its time, and a part that is chosen there is what all views show.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stateOf, tableRows, useBrowser, withPage } from './support/browser.mjs';
import { load } from './support/modules.mjs';
import { writePage } from './support/post.mjs';
import { pictureSamples, pictureTrace } from './support/picture_trace.mjs';
import { profileOf } from './support/profiles.mjs';

useBrowser();

const { boxOf, cellAt, hottest, layHeat, spanOf, stepFrom } = await load('timeline/heat');
const trace = pictureTrace();
const file = writePage(trace);
const { heat } = profileOf(trace).data;
const kRows = 50;
const kStep = 20; // ms

test('cells have the samples of their time, and add up to all', () => {
  const wanted = heat.ticks.map(() => 0);
  for (const { time } of pictureSamples()) ++wanted[Math.floor(time / kStep)];
  assert.deepEqual([heat.rows, heat.width], [kRows, kStep]);
  assert.deepEqual(heat.ticks, wanted);
  const sum = heat.ticks.reduce((all, ticks) => all + ticks, 0);
  assert.equal(sum, pictureSamples().length);
  assert.equal(sum, profileOf(trace).data.merge.ticks);
});

test('places and cells, keys and spans', () => {
  const layout = layHeat(heat, 1280);
  for (const cell of [0, 49, 50, 777, heat.ticks.length - 1]) {
    const { x, y, width, height } = boxOf(layout, cell);
    assert.equal(cellAt(layout, x + width / 2, y + height / 2), cell);
  }
  assert.ok(boxOf(layout, 1).y < boxOf(layout, 0).y, 'time goes upwards');
  assert.equal(cellAt(layout, 2, 100), -1);
  assert.equal(cellAt(layout, 2, 1e6, true), 0);
  assert.equal(cellAt(layout, 1e6, -5, true), heat.ticks.length - 1);
  assert.deepEqual(['ArrowUp', 'ArrowDown', 'ArrowRight', 'ArrowLeft', 'Home', 'x'].map((key) => stepFrom(heat, 60, key)), [61, 59, 110, 10, 0, undefined]);
  assert.equal(stepFrom(heat, 3, 'ArrowLeft'), 0);
  assert.deepEqual(spanOf(heat, 150, 100), [100 * kStep, 151 * kStep]);
  assert.equal(heat.ticks[hottest(heat)], Math.max(...heat.ticks));
});

// The middle of a cell on the page.
async function middle(page, cell) {
  const picture = page.locator('.heatmap canvas');
  await picture.scrollIntoViewIfNeeded();
  const canvas = await picture.boundingBox();
  const { x, y, width, height } = boxOf(layHeat(heat, canvas.width), cell);
  return [canvas.x + x + width / 2, canvas.y + y + height / 2];
}

const samplesIn = (from, to) => pictureSamples().filter(({ time }) => time >= from && time < to);

// The numbers of the tree that the page shows.
async function totals(page) {
  await page.click('nav a[href*="view=flat"]');
  const rows = await tableRows(page);
  return Object.fromEntries(rows.map(({ name, total }) => [name, total]));
}

const open = (use) => withPage(file, { view: 'timeline', m: 'ticks' }, async (page) => {
  await page.waitForFunction(() => document.querySelector('.heatmap canvas').clientWidth > 1000);
  await use(page);
});

test('cells have the colour of their number', () => open(async (page) => {
  const cells = [5, 14 * kRows + 5, 20 * kRows + 5, 22 * kRows + 27];
  const layout = layHeat(heat, await page.$eval('.heatmap canvas', (canvas) => canvas.clientWidth));
  const places = cells.map((cell) => boxOf(layout, cell)).map(({ x, y }) => [x + 2, y + 2]);
  const colours = await page.$eval('.heatmap canvas', (canvas, wanted) => {
    const copy = new OffscreenCanvas(canvas.width, canvas.height);
    const context = copy.getContext('2d', { willReadFrequently: true });
    context.drawImage(canvas, 0, 0);
    return wanted.map(([x, y]) => Array.from(context.getImageData(x, y, 1, 1).data.slice(0, 3)));
  }, places);
  assert.deepEqual(cells.map((cell) => heat.ticks[cell]), [1, 0, 4, 6]);
  const brightness = colours.map((colour) => colour.reduce((all, each) => all + each));
  assert.deepEqual(colours[1], [255, 255, 255]);
  assert.ok(brightness[1] > brightness[0] && brightness[0] > brightness[2] && brightness[2] > brightness[3], `${brightness}`);
}));

test('a drag chooses the time from a cell to another for all views', () => open(async (page) => {
  const from = 20 * kRows + 10;
  const to = 23 * kRows + 29;
  await page.mouse.move(...(await middle(page, to)));
  await page.mouse.down();
  await page.mouse.move(...(await middle(page, from)));
  assert.equal(stateOf(page).range, undefined);
  await page.mouse.up();
  await page.waitForURL(/range=/);
  assert.equal(stateOf(page).range, `${from}-${to + 1}`);
  assert.match(await page.textContent('.range-banner'), /Samples from 20\.2 s to 23\.6 s/);
  const inside = samplesIn(from * kStep, (to + 1) * kStep);
  const shown = await totals(page);
  assert.equal(shown['app.web.Page.render(app.web.Request,java.io.Writer)'], inside.length);
  assert.equal(shown['app.text.Rules.matches(String)'], inside.filter(({ path }) => path.length === 3).length);
  assert.equal(shown['app.store.Table.put(long,byte[])'] ?? 0, 0);
  for (const view of ['summary', 'flame', 'tree', 'graph', 'function', 'threads', 'timeline']) {
    await page.click(`nav a[href*="view=${view}"]`);
    await page.waitForSelector(`nav a[href*="view=${view}"][aria-current=page]`);
    assert.ok(await page.isVisible('.range-banner'), view);
  }
}));

test('a click chooses one cell', () => open(async (page) => {
  await page.mouse.click(...(await middle(page, 22 * kRows + 27)));
  await page.waitForURL(/range=/);
  const shown = await totals(page);
  assert.equal(shown['app.web.Page.render(app.web.Request,java.io.Writer)'], 6);
}));

test('the sliders reach both ends', () => open(async (page) => {
  const [from, to] = await page.$$('.range-picker input');
  await to.press('Home');
  assert.match(stateOf(page).range, /^0-\d+$/);
  await to.press('End');
  await from.press('End');
  const count = Number(stateOf(page).range.split('-')[1]);
  await from.press('Home');
  await page.waitForSelector('.range-banner', { state: 'detached' });
  assert.notEqual(count % 128, 0, 'the last step is a short one');
}));

test('keys mark cells and choose them', () => open(async (page) => {
  await page.focus('.heatmap canvas');
  const said = () => page.textContent('.heat-cell');
  await page.keyboard.press('Home');
  assert.equal(await said(), '0 + 0: 1 sample tick');
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowUp']) await page.keyboard.press(key);
  assert.equal(await said(), '2.00 s + 20.0 ms: 1 sample tick');
  for (const key of ['Shift+ArrowRight', 'Shift+ArrowUp']) await page.keyboard.press(key);
  assert.match(await page.textContent('.range-picker output'), /2\.02 s to 3\.06 s/);
  assert.equal(stateOf(page).range, undefined);
  await page.keyboard.press('Enter');
  assert.equal(stateOf(page).range, `${2 * kRows + 1}-${3 * kRows + 3}`);
  const shown = await totals(page);
  assert.equal(shown['app.Main.run(String[])'], samplesIn(2020, 3060).filter(({ thread }) => thread === 'main').length);
  await page.keyboard.press('Escape');
  await page.waitForSelector('.range-banner', { state: 'detached' });
}));

test('the tooltip has the time and the number', () => open(async (page) => {
  await page.mouse.move(...(await middle(page, 22 * kRows + 27)));
  assert.equal(await page.textContent('.tooltip'), '22.0 s + 540 ms: 6 sample ticks');
}));
