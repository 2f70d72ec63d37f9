// The page's numbers are those of jtrace-post's CSV of the same trace.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tableRows, useBrowser, withPage } from './support/browser.mjs';
import { csv, golden, writePage } from './support/post.mjs';
import { profileOf } from './support/profiles.mjs';
import { comparedTraces, mixedTrace, randomSitesTrace } from './support/traces.mjs';

useBrowser();

const traces = [
  ['a mixed trace', mixedTrace()],
  ...['fig18a', 'fig32'].map((name) => [
    name,
    golden(name),
  ]),
];
// The names of a measure in CSV: self and total.
const columns = {
  ticks: ['base_ticks', 'cum_ticks'],
  time: ['base', 'cum'],
};

const byName = (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

async function measuresOf(page) {
  return page.$$eval('.metric option', (options) => options.map((option) => option.value));
}

async function choose(page, measure) {
  await page.selectOption('.metric select', measure);
  await page.waitForFunction((m) => new URLSearchParams(location.hash.slice(1)).get('m') === m, measure);
}

for (const [title, trace] of traces) {
  const file = writePage(trace);
  const flat = csv('flat', trace).filter((row) => row.kind !== 'thread');

  test(`${title}: routines are the flat report's`, () =>
    withPage(file, { view: 'flat' }, async (page) => {
      for (const measure of await measuresOf(page)) {
        const names = columns[measure];
        if (names === undefined) continue;
        await choose(page, measure);
        const shown = (await tableRows(page)).map(({ name, calls, self, total }) => ({ name, calls, self, total }));
        const expected = flat.map((row) => ({ name: row.name, calls: row.calls, self: row[names[0]], total: row[names[1]] }));
        assert.deepEqual(shown.sort(byName), expected.sort(byName), measure);
      }
    }));

  test(`${title}: elapsed time and metrics of routines are the reports'`, () =>
    withPage(file, { view: 'flat' }, async (page) => {
      for (const measure of await measuresOf(page)) {
        const isMetric = measure.startsWith('metric:');
        if (measure !== 'elapsed' && !isMetric) continue;
        await choose(page, measure);
        const shown = await tableRows(page);
        const expected = isMetric
          ? csv('metrics', trace, `--metric=${measure.slice('metric:'.length)}`)
          : flat.map((row) => ({ routine: row.name, cum: row.elapsed }));
        assert.ok(expected.length > 0);
        for (const row of shown) {
          const found = expected.find(({ routine }) => routine === row.name);
          assert.equal(row.total, found?.cum ?? 0, `${measure} of ${row.name}`);
          if (isMetric) assert.equal(row.self, found?.base ?? 0, `${measure} of ${row.name}`);
        }
      }
    }));

  test(`${title}: the call tree is the tree report's`, () =>
    withPage(file, { view: 'tree' }, async (page) => {
      const expected = csv('tree', trace);
      for (const measure of await measuresOf(page)) {
        const names = columns[measure];
        if (names === undefined) continue;
        await choose(page, measure);
        while ((await page.$('.twig[aria-label=open]')) !== null) await page.click('.twig[aria-label=open]');
        const key = (row) => JSON.stringify(row);
        const shown = (await tableRows(page)).map(({ level, name, total, self, calls, samples }) =>
          key({ level, name, total, self, calls, samples }),
        );
        const wanted = expected.map((row) =>
          key({
            level: row.level,
            name: row.name,
            total: row[names[1]],
            self: row[names[0]],
            calls: row.calls,
            samples: row.samples,
          }),
        );
        assert.deepEqual(shown.sort(), wanted.sort(), measure);
      }
    }));

  test(`${title}: callers and callees are the arc flow's`, () =>
    withPage(file, { view: 'function' }, async (page) => {
      const arcs = csv('arcflow', trace);
      const measures = (await measuresOf(page)).filter((measure) => measure in columns);
      for (const measure of measures) {
        const total = columns[measure][1];
        for (let fn = 0; fn < flat.length; ++fn) {
          await page.evaluate(
            (hash) => (location.hash = hash),
            `view=function&m=${measure.replace(':', '%3A')}&fn=${fn}`,
          );
          await page.waitForFunction((n) => location.hash.endsWith(`fn=${n}`), fn);
          const shown = await page.evaluate(
            () =>
              new Promise((resolve) =>
                requestAnimationFrame(() =>
                  requestAnimationFrame(() =>
                    resolve({
                      self: document.querySelector('h2 .name').title,
                      arcs: Array.from(document.querySelectorAll('.arc'), (arc) => ({
                        row:
                          (arc.querySelector('em') ? 'r' : '') +
                          (arc.dataset.arc.startsWith('c') ? 'parent' : 'child'),
                        name: arc.querySelector('.name').title,
                        total: Number(arc.querySelector('[data-value]').dataset.value),
                      })),
                    }),
                  ),
                ),
              ),
          );
          const expected = arcs
            .filter((arc) => arc.self === shown.self && arc.row !== 'self')
            .map((arc) => ({ row: arc.row, name: arc.name, total: arc[total] }));
          const order = (list) => list.map((each) => JSON.stringify(each)).sort();
          assert.deepEqual(order(shown.arcs), order(expected), `${shown.self} by ${measure}`);
        }
      }
    }));

  test(`${title}: threads are the threads report's`, () =>
    withPage(file, { view: 'threads' }, async (page) => {
      const shown = await tableRows(page);
      const expected = csv('threads', trace);
      assert.equal(shown.length, expected.length);
      for (const row of expected) {
        const [found] = shown.filter(({ name }) => name === row.thread);
        if (found.ticks !== undefined) assert.equal(found.ticks, row.ticks, row.thread);
        if (found.time !== undefined) assert.equal(found.time, row.cum, row.thread);
        if (found.calls !== undefined) assert.equal(found.calls, row.calls, row.thread);
      }
    }));
}

test('the whole of every measure is the sum over the flat list', () => {
  const randoms = [0, 1].map((seed) => randomSitesTrace(seed));
  let compared = 0;
  for (const trace of [...traces.map(([, each]) => each), ...randoms, comparedTraces()[1]]) {
    const profile = profileOf(trace);
    const { data } = profile;
    const sum = (name) => csv('flat', trace, `--metric=${name}`).reduce((all, row) => all + row[`${name}.base`], 0);
    for (const measure of profile.measures) {
      const name = measure.id.replace(/^metric:/, '');
      assert.equal(measure.whole, name === 'elapsed' ? sum('time') + sum('off') : sum(name), `${name} of ${trace}`);
      ++compared;
    }
    const { base_ticks: ticks, calls } = data.flat;
    for (const [column, values] of Object.entries({ base_ticks: ticks, calls })) {
      const rows = csv('flat', trace).filter((row) => row.kind !== 'thread');
      assert.equal(values.reduce((a, b) => a + b, 0), rows.reduce((all, row) => all + row[column], 0), column);
    }
  }
  assert.ok(compared > 12);
});
