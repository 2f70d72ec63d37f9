// The page of two traces: its numbers are those of --report=diff and of each trace's own reports.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { stateOf, tableRows, useBrowser, withPage } from './support/browser.mjs';
import { csv, dataOf, golden, post, writeDiffPage, writeTrace } from './support/post.mjs';
import { comparedTraces, emptyTrace, hostileTrace, mixedTrace, randomSitesTrace } from './support/traces.mjs';

useBrowser();

const compared = comparedTraces();
const pairs = [
  ['two runs', compared],
  ['the reverse', compared.slice().reverse()],
  ['the same', [mixedTrace(), mixedTrace()]],
  ['a figure', [golden('fig18a'), golden('fig18a')]],
  ['random ones', [randomSitesTrace(1), randomSitesTrace(2)]],
  ['from nothing', [emptyTrace(), compared[1]]],
];
// Columns of --report=diff; of flat, arcflow and tree: self and total.
const columns = {
  ticks: { diff: 'base_ticks', self: 'base_ticks', total: 'cum_ticks' },
  time: { diff: 'base', self: 'base', total: 'cum' },
  calls: { diff: 'calls', self: 'calls' },
};

const reported = ([before, after], ...args) => csv('diff', after, ...args, before);
const measuresOf = (page) => page.$$eval('.metric option', (options) => options.map((option) => option.value));
async function choose(page, measure) {
  await page.selectOption('.metric select', measure);
  await page.waitForFunction((m) => new URLSearchParams(location.hash.slice(1)).get('m') === m, measure);
}
const byName = (rows) => new Map(rows.map((row) => [row.name, row]));
const sum = (values) => values.reduce((all, value) => all + value, 0);

for (const [title, traces] of pairs) {
  const file = writeDiffPage(traces);
  const data = dataOf(readFileSync(file, 'utf8'));

  test(`${title}: totals and counts of routines are the text's`, () =>
    withPage(file, {}, async (page) => {
      const text = post('--report=diff', ...traces).toString();
      const shown = await page.$$eval('[data-total]', (rows) =>
        rows.map((row) => Array.from(row.children, (cell) => cell.textContent.trim())),
      );
      const wanted = text.split('\n\n')[0].split('\n').filter((line) => line.includes('→'))
        .map((line) => line.match(/^(\S+)\s+(.*?)\s*→\s*(.*?)\s{1,}(\S+(?: %)?)$/).slice(1));
      assert.deepEqual(shown, wanted);
      assert.ok(text.includes(await page.getAttribute('[data-states]', 'data-states')));
    }));

  test(`${title}: routines have the numbers of --report=diff, by every measure`, () =>
    withPage(file, { view: 'flat' }, async (page) => {
      const flats = traces.map((trace) => byName(csv('flat', trace).filter((row) => row.kind !== 'thread')));
      const measures = await measuresOf(page);
      for (const measure of measures) {
        await choose(page, measure);
        const metric = measure.startsWith('metric:') ? measure.slice('metric:'.length) : measure;
        const expected = byName(reported(traces, `--metric=${metric}`));
        // Short tables only are whole in the document.
        const rows = await tableRows(page);
        assert.equal(rows.length, expected.size);
        for (const row of rows) {
          const want = expected.get(row.name);
          const what = `${measure} of ${row.name}`;
          assert.equal(row.self_before, want[`${metric}_before`], what);
          assert.equal(row.self_after, want[`${metric}_after`], what);
          assert.equal(row.self, want[`${metric}_delta`], what);
          assert.equal(row.state, String(csvState(traces, row.name)), what);
          if (measure !== 'calls') {
            assert.deepEqual([row.calls_before, row.calls_after, row.calls], [want.calls_before, want.calls_after, want.calls_delta], what);
          }
          const total = columns[measure]?.total;
          if (total === undefined) continue;
          assert.equal(row.total_before, flats[0].get(row.name)?.[total] ?? 0, what);
          assert.equal(row.total_after, flats[1].get(row.name)?.[total] ?? 0, what);
          assert.equal(row.total, row.total_after - row.total_before, what);
        }
      }
    }));

  test(`${title}: nodes are those of both trees, without threads`, () => {
    for (const [i, side] of ['before', 'after'].entries()) {
      for (const { name, is_metric, [side]: values } of data.measures) {
        const column = is_metric ? `${name}.base` : { ticks: 'base_ticks', time: 'base', calls: 'calls', off: 'off' }[name];
        // A trace without the metric rejects it.
        if (column === 'off' || values.every((value) => value === 0)) continue;
        const expected = new Map();
        const path = [];
        for (const row of csv('tree', traces[i], '--sites=off', ...(is_metric ? [`--metric=${name}`] : []))) {
          path.length = row.level;
          path.push(row.name);
          const key = path.slice(1).join(' > ');
          if (row.level > 0 && row[column] !== 0) expected.set(key, (expected.get(key) ?? 0) + row[column]);
        }
        const found = new Map();
        data.nodes.level.forEach((level, node) => {
          path.length = level;
          path.push(data.routines[data.nodes.name[node]]);
          if (values[node] !== 0) found.set(path.slice(1).join(' > '), values[node]);
        });
        assert.deepEqual([...found].sort(), [...expected].sort(), `${name} ${side}`);
        const selves = is_metric || name !== 'calls' ? data.measures.find((each) => each.name === name)[`self_${side}`] : undefined;
        if (selves !== undefined) assert.equal(sum(values), sum(selves), `${name} ${side}`);
      }
    }
  });
}

function csvState(traces, name) {
  csvState.known ??= new Map();
  const key = traces.join();
  if (!csvState.known.has(key)) {
    const [head, ...lines] = post('--report=diff', '--format=json', ...traces).toString().split('\n');
    csvState.known.set(key, new Map(JSON.parse([head, ...lines].join('\n')).rows.map((row) => [row.name, row.state])));
  }
  return csvState.known.get(key).get(name);
}

test('callers and callees are those of each trace', () =>
  withPage(writeDiffPage(compared), { view: 'function' }, async (page) => {
    const arcs = compared.map((trace) => csv('arcflow', trace));
    const names = (await page.evaluate(() => document.title)) && dataOf(readFileSync(writeDiffPage(compared), 'utf8')).routines;
    for (const measure of ['ticks', 'time']) {
      for (const [fn, self] of names.entries()) {
        await page.evaluate((hash) => (location.hash = hash), `view=function&m=${measure}&fn=${fn}`);
        await page.waitForFunction((name) => document.querySelector('h2 .name')?.title === name, self);
        await page.waitForFunction((id) => document.querySelector('.metric select').value === id, measure);
        const shown = await page.$$eval('[data-arc]', (rows) =>
          rows.map(({ dataset: d }) => ({
            row: `${d.arc.endsWith('r') ? 'r' : ''}${d.arc.startsWith('c') ? 'parent' : 'child'}`,
            name: d.name, before: Number(d.before), after: Number(d.after),
            calls_before: Number(d.callsBefore), calls_after: Number(d.callsAfter),
          })),
        );
        for (const [i, side] of ['before', 'after'].entries()) {
          // Threads' roots are one caller.
          const want = new Map();
          const threads = new Set(csv('threads', compared[i]).map(({ thread }) => thread));
          for (const arc of arcs[i].filter((each) => each.self === self && each.row !== 'self')) {
            const key = `${arc.row} ${threads.has(arc.name) ? 'all threads' : arc.name}`;
            const [total, calls] = want.get(key) ?? [0, 0];
            want.set(key, [total + arc[columns[measure].total], calls + arc.calls]);
          }
          const found = shown.map((row) => [`${row.row} ${row.name}`, [row[side], row[`calls_${side}`]]]);
          const real = (list) => list.filter(([, [total, calls]]) => total !== 0 || calls !== 0).sort();
          assert.deepEqual(real(found), real([...want]), `${self} ${measure} ${side}`);
        }
      }
    }
  }));

// The frames of a saved picture by their names: widths and colours.
async function framesOf(page) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('s')]);
  const text = readFileSync(await download.path(), 'utf8');
  return new Map(
    Array.from(text.matchAll(/<title>([^<]*?): [^<]*<\/title><rect [^>]*width="([\d.]+)"[^>]*fill="(#\w+)"/g), ([, name, width, fill]) => [
      name, { width: Number(width), fill },
    ]),
  );
}
const isBlue = (fill) => Number.parseInt(fill.slice(5), 16) > Number.parseInt(fill.slice(1, 3), 16) + 8;
const isOrange = (fill) => Number.parseInt(fill.slice(1, 3), 16) > Number.parseInt(fill.slice(5), 16) + 8;

test('the flame graph: width by either trace, blue shrank, orange grew', () =>
  withPage(writeDiffPage(compared), { view: 'flame', m: 'time' }, async (page) => {
    const after = await framesOf(page);
    assert.ok(isOrange(after.get('app.Work.step(long)').fill));
    assert.ok(isOrange(after.get('app.Work.fresh()').fill));
    assert.ok(isBlue(after.get('app.Tree.walk(int)').fill));
    assert.equal(after.get('app.Work.old()'), undefined);
    assert.match(await page.textContent('[data-unseen]'), /Gone and so without width here: 2 paths, 120 ns/);
    await page.keyboard.press('w');
    const before = await framesOf(page);
    assert.ok(isBlue(before.get('app.Work.old()').fill));
    assert.equal(before.get('app.Work.fresh()'), undefined);
    const whole = before.get('all threads').width;
    const [was] = reported(compared).filter((row) => row.name === 'app.Work.step(long)');
    const wide = whole * ((was.base_before + 80) / sum(reported(compared).map((row) => row.base_before)));
    assert.ok(Math.abs(before.get('app.Work.step(long)').width - wide) < 2);
    await page.click('text=Show all paths');
    const either = await framesOf(page);
    assert.ok(either.has('app.Work.old()') && either.has('app.Work.fresh()'));
    assert.equal(await page.$('[data-unseen]'), null);
    assert.match(await page.textContent('.legend'), /shrank to less than half.*grew to more than double.*gone.*new/);
  }));

test('samples that differ by chance have no colour, those that differ by more have one', () =>
  withPage(writeDiffPage(compared), { view: 'flame', m: 'ticks', 'flame.width': 'either' }, async (page) => {
    const frames = await framesOf(page);
    assert.ok(isOrange(frames.get('app.Work.step(long)').fill)); // 40 to 90
    const plain = frames.get('memcpy').fill; // 9 to 11
    assert.ok(!isOrange(plain) && !isBlue(plain), plain);
    await page.keyboard.press('ArrowDown');
    assert.match(await page.textContent('.selection'), /samples103 → 143, \+40 \(\+38\.8 %\)/);
  }));

test('names of both traces are on top of every view, and what makes them hard to compare', () => {
  const head = (mode) => `#@\tsession\tmode\t${mode}`;
  const traces = ['merged', 'events'].map((mode) => writeTrace([head(mode), '0\tmain\tnode\tcalls=1\ta.A.run()']));
  const run = spawnSync(process.env.JTRACE_POST, ['--report=diff', ...traces]);
  const warnings = run.stderr.toString().split('\n').filter((line) => line.includes('warning: ')).map((line) => line.replace(/.*warning: /, ''));
  assert.equal(warnings.length, 1);
  return withPage(writeDiffPage(traces), {}, async (page) => {
    for (const view of ['summary', 'flame', 'flat', 'function']) {
      await page.click(`nav a[href*="view=${view}"]`);
      await page.waitForSelector(`nav a[href*="view=${view}"][aria-current=page]`);
      const top = await page.textContent('.compared');
      for (const trace of traces) assert.ok(top.includes(trace.replace(/.*\//, '')), top);
      assert.deepEqual(await page.$$eval('.compared p', (all) => all.map((each) => each.textContent)), warnings);
    }
  });
});

test('traces whose numbers mean different things make no page', () => {
  const [a, b] = ['ms', 'us'].map((unit) => writeTrace(['0\tmain\tnode\tcalls=1\ta.A.run()'], unit));
  const run = spawnSync(process.env.JTRACE_POST, ['--report=diff,html', a, b]);
  assert.equal(run.status, 2);
  assert.match(run.stderr.toString(), /times are in ms in one trace and in us in the other/);
  assert.equal(run.stdout.toString(), '');
});

test('broken rules are in the page', () => {
  const path = `${compared[0]}.html`;
  const run = spawnSync(process.env.JTRACE_POST, ['--report=diff,html', '--fail-on=calls>0', '-o', path, ...compared]);
  assert.equal(run.status, 3);
  return withPage(path, {}, async (page) => {
    const shown = await page.$$eval('.broken li', (all) => all.map((each) => each.textContent.replace('✕ ', '')));
    const what = run.stderr.toString().trim().split('\n').map((line) => line.replace('jtrace-post: ', ''));
    assert.ok(shown.length > 0);
    assert.deepEqual(shown, what);
  });
});

test('sorting, the search, and the way to a function', () =>
  withPage(writeDiffPage(compared), { view: 'flat', m: 'time' }, async (page) => {
    const deltas = async () => (await tableRows(page)).map((row) => row.self);
    const shown = await deltas();
    assert.deepEqual(shown, shown.slice().sort((a, b) => b - a));
    await page.click('[role=columnheader] button:has-text("self change")');
    assert.equal(stateOf(page)['flat.sort'], '-self');
    const upwards = await deltas();
    assert.deepEqual(upwards, upwards.slice().sort((a, b) => a - b));
    await page.fill('.search input', 'Work');
    assert.equal((await tableRows(page)).length, 3);
    await page.dblclick('.table-body [role=row]');
    await page.waitForSelector('h2 .name');
    assert.match(await page.textContent('h2 .name'), /Work/);
  }));

test('hostile names are shown as text', () =>
  withPage(writeDiffPage([hostileTrace(), mixedTrace()]), {}, async (page) => {
    for (const view of ['summary', 'flame', 'flat', 'function']) {
      await page.click(`nav a[href*="view=${view}"]`);
      await page.waitForTimeout(50);
    }
    assert.equal(await page.$('main script, main img, main b[onmouseover]'), null);
    assert.match(await page.title(), /jtrace/);
  }));
