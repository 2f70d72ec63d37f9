// Saved pictures: PNG with twice the pixels, and the call graph as SVG, look like those on the page.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { useBrowser, withPage } from './support/browser.mjs';
import { writeDiffPage, writePage } from './support/post.mjs';
import { bigTrace, comparedTraces, hostileTrace, mixedTrace } from './support/traces.mjs';

useBrowser();

const mixed = writePage(mixedTrace());
const compared = writeDiffPage(comparedTraces());

async function saved(page, save) {
  const [download] = await Promise.all([page.waitForEvent('download'), save()]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

const click = (page, kind) => () => page.click(`[data-save=${kind}]`);

function sizeOf(png) {
  assert.equal(png.subarray(1, 4).toString(), 'PNG');
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20) };
}

// Colours of a PNG at places given in pixels of the page: "r,g,b".
function coloursOf(page, png, places) {
  return page.evaluate(
    async ([address, wanted]) => {
      const image = new Image();
      image.src = address;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext('2d', { willReadFrequently: true });
      context.drawImage(image, 0, 0);
      return wanted.map(([x, y]) => Array.from(context.getImageData(2 * x, 2 * y, 1, 1).data.slice(0, 3)).join());
    },
    [`data:image/png;base64,${png.toString('base64')}`, places],
  );
}

// The same of a canvas of the page.
function shownColours(page, places, selector = 'main canvas') {
  return page.$eval(
    selector,
    (canvas, wanted) => {
      const copy = new OffscreenCanvas(canvas.width, canvas.height);
      const context = copy.getContext('2d', { willReadFrequently: true });
      context.drawImage(canvas, 0, 0);
      return wanted.map(([x, y]) => Array.from(context.getImageData(x, y, 1, 1).data.slice(0, 3)).join());
    },
    places,
  );
}

const kPlaces = 600;
const grid = (width, height) =>
  Array.from({ length: kPlaces }, (_, i) => [2 + ((i * 37) % (width - 4)), 2 + ((i * 23) % (height - 4))]);
// Letters and hatching are drawn anew, so that few places may differ.
function assertAlike(found, wanted) {
  const isOther = (a, b) => a.split(',').some((channel, i) => Math.abs(channel - b.split(',')[i]) > 24);
  const differ = found.filter((colour, i) => isOther(colour, wanted[i])).length;
  assert.ok(new Set(wanted).size >= 3, 'the picture has colours');
  assert.ok(differ <= kPlaces / 12, `${differ} of ${found.length} places differ`);
}

for (const [title, file, state] of [
  ['flame graph', mixed, { view: 'flame' }],
  ['flame graph upwards, dark', mixed, { view: 'flame', 'flame.as': 'flame', theme: 'dark' }],
  ['flame graph of two traces', compared, { view: 'flame', 'flame.width': 'either' }],
]) {
  test(`PNG of the ${title}`, () =>
    withPage(file, state, async (page) => {
      const { name, bytes } = await saved(page, click(page, 'png'));
      assert.match(name, /\.png$/);
      const rows = await page.$eval('.picture canvas', (canvas) => canvas.clientWidth);
      const { width, height } = sizeOf(bytes);
      assert.equal(width, 2 * rows);
      assert.equal(height % (2 * 19), 0);
      const shown = await page.$eval('.picture canvas', (canvas) => canvas.clientHeight);
      // Upwards, the root is at the lower end of the page's picture.
      const shift = state['flame.as'] === 'flame' ? shown - height / 2 : 0;
      const places = grid(width / 2, height / 2);
      assertAlike(
        await coloursOf(page, bytes, places),
        await shownColours(page, places.map(([x, y]) => [x, y + shift])),
      );
    }));
}

test('PNG of the timeline', () =>
  withPage(mixed, { view: 'timeline' }, async (page) => {
    const { bytes } = await saved(page, click(page, 'png'));
    const { width, height } = sizeOf(bytes);
    const sizeOn = (selector) => page.$eval(selector, (canvas) => [canvas.clientWidth, canvas.clientHeight]);
    const bands = await sizeOn('.bands canvas');
    const heat = await sizeOn('.heatmap canvas');
    assert.deepEqual([width, height], [2 * bands[0], 2 * (bands[1] + heat[1])]);
    await page.mouse.move(1, 1);
    for (const [selector, box, top] of [['.bands canvas', bands, 0], ['.heatmap canvas', heat, bands[1]]]) {
      const places = grid(...box);
      const inFile = await coloursOf(page, bytes, places.map(([x, y]) => [x, y + top]));
      assertAlike(inFile, await shownColours(page, places, selector));
    }
  }));

test('SVG and PNG of the call graph: every function and arc, with its colours', () =>
  withPage(mixed, { view: 'graph' }, async (page) => {
    await page.waitForSelector('.scene .node');
    const { name, bytes } = await saved(page, click(page, 'svg'));
    assert.match(name, /\.svg$/);
    const drawn = await page.evaluate(() => ({
      labels: Array.from(document.querySelectorAll('.scene .label'), (text) => text.textContent.trim()),
      fills: Array.from(document.querySelectorAll('.scene .box'), (box) => getComputedStyle(box).fill),
      streams: document.querySelectorAll('.scene .stream').length,
    }));
    const inFile = await page.evaluate((text) => {
      const root = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
      return {
        tag: root.tagName,
        texts: Array.from(root.querySelectorAll('text'), (each) => each.textContent.trim()),
        fills: Array.from(root.querySelectorAll('rect[rx="7"]'), (each) => each.getAttribute('fill')),
        paths: root.querySelectorAll('path[stroke-width][d]').length,
        styled: root.querySelectorAll('[class], [style]').length,
        size: [root.getAttribute('width'), root.getAttribute('height')].map(Number),
      };
    }, bytes.toString());
    assert.equal(inFile.tag, 'svg');
    for (const label of drawn.labels) assert.ok(inFile.texts.includes(label), label);
    assert.deepEqual(inFile.fills, drawn.fills);
    assert.ok(inFile.paths >= drawn.streams);
    assert.equal(inFile.styled, 0);
    const png = await saved(page, click(page, 'png'));
    assert.deepEqual(sizeOf(png.bytes), { width: 2 * inFile.size[0], height: 2 * inFile.size[1] });
    const boxes = await page.evaluate(() =>
      Array.from(document.querySelectorAll('.scene .box'), (box) => [Math.round(Number(box.getAttribute('x')) + 9), Math.round(Number(box.getAttribute('y')) + 3)]),
    );
    assert.deepEqual(
      await coloursOf(page, png.bytes, boxes),
      drawn.fills.map((fill) => fill.match(/\d+/g).join()),
    );
  }));

test('keys save, and names of traces stay text', () =>
  withPage(writePage(hostileTrace()), { view: 'graph' }, async (page) => {
    await page.waitForSelector('.scene .node');
    const { bytes } = await saved(page, () => page.keyboard.press('s'));
    const bad = await page.evaluate((text) => {
      const root = new DOMParser().parseFromString(text, 'image/svg+xml');
      return root.querySelectorAll('parsererror, script, img, foreignObject').length;
    }, bytes.toString());
    assert.equal(bad, 0);
    assert.match((await saved(page, () => page.keyboard.press('Shift+S'))).name, /\.png$/);
    await page.keyboard.press('2');
    await page.waitForSelector('.picture canvas');
    assert.match((await saved(page, () => page.keyboard.press('Shift+S'))).name, /\.png$/);
  }));

test('a picture that no browser could draw at that size has fewer pixels', () =>
  withPage(writePage(bigTrace(1_500)), { view: 'graph', 'graph.filter': '0' }, async (page) => {
    await page.waitForSelector('.scene .node');
    const { width, height } = sizeOf((await saved(page, click(page, 'png'))).bytes);
    assert.ok(Math.max(width, height) <= 16_384 && width * height <= 61e6, `${width} × ${height}`);
  }));
