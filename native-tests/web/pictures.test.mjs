// Pictures of every view in both themes, compared with those in pictures/: where things are, and their
// colours. That a view is empty, or has other colours, is seen (the last tests).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { useBrowser, withPage } from './support/browser.mjs';
import { changedPage, dataOf, writeDiffPage, writePage } from './support/post.mjs';
import { difference, faultOf, kMostDiffering, pictureOf, pictureOptions, reference, renew, renews, shrunk, useBoxes } from './support/pictures.mjs';
import { pictureSources, pictureTrace } from './support/picture_trace.mjs';
import { comparedTraces } from './support/traces.mjs';

useBrowser();

// Without what depends on the machine and the version.
const title = 'app.bin';
const traces = [{ file: title, facts: [['JVM', '17']], cut_off: false, running: false }];
const neutral = { title, version: '1' };
const one = changedPage(writePage(pictureTrace()), { ...neutral, traces, sources: pictureSources() });
const compared = writeDiffPage(comparedTraces());
const { sides } = dataOf(readFileSync(compared, 'utf8'));
const two = changedPage(compared, { ...neutral, sides: sides.map((side) => ({ ...side, title, traces })) });

const states = {
  summary: {},
  flame: { view: 'flame', m: 'ticks' },
  tree: { view: 'tree', m: 'ticks' },
  graph: { view: 'graph', m: 'time' },
  flat: { view: 'flat', m: 'calls' },
  function: { view: 'function', q: 'matches' },
  source: { view: 'source', 'source.file': '0', 'source.line': '4' },
  threads: { view: 'threads' },
  timeline: { view: 'timeline', range: '500-1200' },
};
const diffStates = {
  'diff-summary': {},
  'diff-flame': { view: 'flame', m: 'time' },
  'diff-flat': { view: 'flat', m: 'time' },
  'diff-function': { view: 'function', m: 'time', fn: '1' },
};
const pages = [
  ...Object.entries(states).map(([name, state]) => [name, one, state]),
  ...Object.entries(diffStates).map(([name, state]) => [name, two, state]),
];

// Calls `use` with the page, and its picture after `change`.
function withPicture([, file, state], theme, use, change = async () => {}) {
  return withPage(file, { ...state, theme }, async (page) => {
    await useBoxes(page);
    await page.reload();
    await page.waitForSelector('main > *');
    await change(page);
    await use(page, await shrunk(page, await pictureOf(page)));
  }, pictureOptions(theme));
}

for (const theme of ['light', 'dark']) {
  for (const view of pages) {
    const name = `${view[0]}-${theme}`;
    test(`${name} looks as it did`, async () => {
      let first;
      await withPicture(view, theme, async (page, picture) => {
        first = picture;
        if (renews) renew(name, picture);
        assert.equal(await faultOf(page, name, picture), undefined);
      });
      // At another moment, too.
      await withPicture(view, theme, (page, picture) => assert.ok(picture.equals(first), 'two pictures of one page differ'));
    });
  }
}

// Faults that must be seen, and in which views.
const painted = ['flame', 'timeline', 'diff-flame', 'graph'];
const faults = [
  ['an empty view', 'main > * { visibility: hidden; }', pages.map(([name]) => name)],
  ['swapped colours', 'main { filter: hue-rotate(120deg); }', painted],
  ['a picture that is missing', 'main canvas, main svg { visibility: hidden; }', painted],
  ['a picture upside down', 'main canvas, main svg { transform: scaleY(-1); }', painted],
  ['a row that is missing', '.table-body > div:nth-child(2) { visibility: hidden; }', ['tree', 'flat', 'threads', 'diff-flat']],
  ['another place', 'main { padding-left: 60px; }', pages.map(([name]) => name)],
];
for (const [what, css, names] of faults) {
  test(`${what} is seen`, async () => {
    for (const view of pages.filter(([name]) => names.includes(name))) {
      await withPicture(
        view,
        'light',
        async (page, picture) => {
          const share = await difference(page, reference(`${view[0]}-light`), picture);
          assert.ok(share > 2 * kMostDiffering, `${view[0]} ${share}`);
        },
        (page) => page.addStyleTag({ content: css }),
      );
    }
  });
}
