// The exports in speedscope (npm), whose importers read all of these formats: the profiles that it
// saves in its own format have the values of the tree report, path by path.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { csv, golden, post } from './support/post.mjs';
import { mixedTrace, sitesTrace } from './support/traces.mjs';

const folder = mkdtempSync(join(tmpdir(), 'jtrace-exports-'));
const speedscope = new URL('../node_modules/speedscope/dist/release/index.html', import.meta.url);
let browser;

before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    // speedscope draws with WebGL; its files are local.
    args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
  });
});
after(() => browser?.close());

// The profiles that speedscope makes from a file, as it saves them. Warnings are errors.
async function readWithSpeedscope(name, content) {
  const context = await browser.newContext({ acceptDownloads: true });
  const page = await context.newPage();
  const wrong = [];
  page.on('console', (message) => {
    if (['warning', 'error'].includes(message.type())) wrong.push(message.text());
  });
  page.on('pageerror', (error) => wrong.push(error.stack));
  try {
    const script = join(folder, `${name}.js`);
    const bytes = JSON.stringify(Buffer.from(content).toString('base64'));
    writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(name)}, ${bytes})`);
    await page.goto(`${speedscope}#localProfilePath=${pathToFileURL(script).pathname.slice(1)}`);
    await page.waitForFunction(() => document.title.endsWith(' - speedscope'));
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.keyboard.press('Control+s'),
    ]);
    assert.deepEqual(wrong, [], name);
    return JSON.parse(readFileSync(await saved.path(), 'utf8'));
  } finally {
    await context.close();
  }
}

// A profile's own value of each path, from its openings and closings.
function selfValues(file, profile) {
  const values = new Map();
  const stack = [];
  let last = 0;
  for (const event of profile.events) {
    const path = stack.join(' > ');
    if (event.at !== last) values.set(path, (values.get(path) ?? 0) + event.at - last);
    last = event.at;
    if (event.type === 'O') stack.push(file.shared.frames[event.frame].name);
    else stack.pop();
  }
  return values;
}

// The same from the tree report. `from` 1 leaves out the threads' names. With `sites` a caller has
// the line of its call after its name.
function treeValues(trace, column, { from = 0, factor = 1, sites = true } = {}) {
  const values = new Map();
  const names = []; // of the current path, without lines
  const path = [];
  for (const row of csv('tree', trace)) {
    const site = row.site ?? '';
    names.length = path.length = row.level;
    names.push(site === '' ? row.name : row.name.slice(site.length + ' > '.length));
    if (row.level > 0) path[row.level - 1] = sites && site !== '' ? site : names[row.level - 1];
    path.push(names[row.level]);
    const value = column === 'calls' && row.origin === 'thread' ? 0 : row[column] * factor;
    const key = path.slice(Math.min(from, path.length - 1)).join(' > ');
    if (value !== 0) values.set(key, (values.get(key) ?? 0) + value);
  }
  return values;
}

function sorted(values) {
  return [...values].sort(([a], [b]) => (a < b ? -1 : 1));
}

function sum(values) {
  return [...values.values()].reduce((a, b) => a + b, 0);
}

const columns = { calls: 'calls', ticks: 'base_ticks', time: 'base' };

for (const [title, trace, metric] of [
  ['events', golden('fig18a'), 'calls'],
  ['samples', golden('callstack-table3'), 'ticks'],
  ['both', mixedTrace(), 'time'],
  ['call sites', sitesTrace(), 'calls'],
]) {
  const expected = sorted(treeValues(trace, columns[metric]));
  const make = (report) => post(`--report=${report}`, `--metric=${metric}`, trace);

  test(`collapsed: ${metric} of ${title}`, async () => {
    const file = await readWithSpeedscope('stacks.txt', make('collapsed'));
    assert.equal(file.profiles.length, 1);
    assert.deepEqual(sorted(selfValues(file, file.profiles[0])), expected);
  });

  test(`speedscope: ${metric} of ${title}`, async () => {
    const file = await readWithSpeedscope('trace.speedscope.json', make('speedscope'));
    const all = file.profiles.flatMap((profile) => [...selfValues(file, profile)]);
    assert.deepEqual(sorted(all), expected);
  });

  test(`pprof: ${metric} of ${title}`, async () => {
    const file = await readWithSpeedscope('profile.pb.gz', make('pprof'));
    assert.equal(file.profiles.length, 1);
    assert.deepEqual(
      sorted(selfValues(file, file.profiles[0])),
      sorted(treeValues(trace, columns[metric], { from: 1, sites: false })),
    );
  });

  // The format has arcs and no paths: a profile for each event, the chosen one first.
  test(`callgrind: ${metric} of ${title}`, async () => {
    const file = await readWithSpeedscope('callgrind.out.1', make('callgrind'));
    const [first] = file.profiles;
    assert.match(first.name, new RegExp(`-- ${metric}$`));
    assert.equal(first.endValue, sum(treeValues(trace, columns[metric])));
  });
}

test('perfetto: the time of every activation', async () => {
  const trace = golden('fig18a');
  const file = await readWithSpeedscope('timeline.json', post('--report=perfetto', trace));
  assert.equal(file.profiles.length, 1);
  const values = selfValues(file, file.profiles[0]);
  assert.deepEqual(sorted(values), sorted(treeValues(trace, 'base', { from: 1 })));
});
