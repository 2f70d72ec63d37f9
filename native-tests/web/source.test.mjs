// The source view: the numbers of --report=source, links, keys; pages without counts or sources.
import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { stateOf, tableRows, useBrowser, withPage } from './support/browser.mjs';
import { dataOf, post, writePage } from './support/post.mjs';
import { recordLines, workloads } from './support/recorded.mjs';
import { mixedTrace } from './support/traces.mjs';

useBrowser();

const trace = join(mkdtempSync(join(tmpdir(), 'jtrace-source-')), 'cases.bin');
let file;
let listing; // rows of --report=source

before(() => {
  recordLines(trace, 'LineCases', 'mode=events');
  file = writePage(trace, `--source=${workloads}`);
  const text = post('--report=source', '--format=json', `--source=${workloads}`, trace).toString();
  listing = JSON.parse(text).rows;
});

const main = 'LineCases.main(String[])';

test('the list of files has the coverage of --report=coverage', () =>
  withPage(file, { view: 'source' }, async (page) => {
    const rows = await tableRows(page);
    assert.equal(rows.length, 1);
    assert.equal(rows[0].path, 'LineCases.java');
    const program = JSON.parse(post('--report=coverage', '--format=json', trace).toString()).rows[0];
    assert.ok(Math.abs(rows[0].lines - program.covered / program.total) < 1e-9);
    assert.equal(
      await page.getAttribute('[data-coverage]', 'data-coverage'),
      String(program.covered),
    );
  }));

test('Enter opens a file, and its lines have counts, marks and branches', () =>
  withPage(file, { view: 'source' }, async (page) => {
    await page.click('.table-body [role=row]');
    await page.focus('.table');
    await page.keyboard.press('Enter');
    assert.equal(stateOf(page)['source.file'], '0');
    // Every line of the file, in pieces: only those in sight are in the document.
    const seen = new Map();
    for (let line = 1; line <= listing.length; line += 15) {
      await page.evaluate((top) => (document.querySelector('.table').scrollTop = top), (line - 1) * 26);
      await page.waitForTimeout(40);
      for (const row of await tableRows(page)) seen.set(-row.line, row);
    }
    assert.equal(seen.size, listing.length);
    for (const row of listing) {
      const shown = seen.get(row.line);
      assert.equal(`${shown.text}`, row.source, `line ${row.line}`);
      assert.equal(shown.count, row.count ?? -1, `line ${row.line}`);
      assert.equal(shown.mark, row.mark, `line ${row.line}`);
    }
  }));

test('beside the counts is the share of the method, as in --report=source', () =>
  withPage(file, { view: 'source', 'source.file': '0', 'source.value': 'cycles' }, async (page) => {
    const seen = new Map();
    for (let line = 1; line <= listing.length; line += 15) {
      await page.evaluate((top) => (document.querySelector('.table').scrollTop = top), (line - 1) * 26);
      await page.waitForTimeout(40);
      for (const row of await tableRows(page)) seen.set(-row.line, row);
    }
    assert.ok(listing.some((row) => row.percent > 0 && row.percent < 100));
    for (const row of listing) {
      const expected = row.percent === null ? -1 : row.percent * 100;
      assert.ok(Math.abs(seen.get(row.line).percent - expected) <= 1, `line ${row.line}`);
    }
  }));

test('a line shows its method, callers, callees and blocks', () => {
  const call = listing.find((row) => /^\s*once\(i\);/.test(row.source)) ?? listing.find((row) => row.mark === '+');
  return withPage(file, { view: 'source', 'source.file': '0', 'source.line': `${call.line}` }, async (page) => {
    const margin = await page.textContent('.margin');
    assert.match(margin, new RegExp(`Line ${call.line}: `));
    assert.match(margin, /Callers/);
    assert.match(margin, /Hottest callees/);
    const blocks = await page.getAttribute('.margin [data-blocks]', 'data-blocks').catch(() => null);
    if (call.mark === '+') assert.equal(blocks, call.blocks);
    // To a callee's own lines.
    await page.click('.margin .go');
    assert.equal(stateOf(page).view, 'source');
    assert.notEqual(stateOf(page)['source.line'], `${call.line}`);
  });
});

test('links lead there from other views', async () => {
  const { routines, nodes } = dataOf(post('--report=html', `--source=${workloads}`, trace).toString());
  const fn = routines.indexOf(main);
  const node = nodes.name.indexOf(fn);
  for (const state of [
    { view: 'function', fn: `${fn}` },
    { view: 'flame', 'flame.at': `${node}` },
    { view: 'tree', 'tree.at': `${node}` },
  ]) {
    await withPage(file, state, async (page) => {
      await page.click('button:text-is("Source")');
      assert.equal(stateOf(page).view, 'source');
      assert.match(await page.textContent('.margin h3'), /main/);
    });
  }
});

test('keys: down, next lines that never ran, back to the files', () =>
  withPage(file, { view: 'source', 'source.file': '0', 'source.line': '1' }, async (page) => {
    await page.focus('.table');
    await page.keyboard.press('ArrowDown');
    assert.equal(stateOf(page)['source.line'], '2');
    const never = listing.filter((row) => row.mark === '#').map((row) => row.line);
    await page.keyboard.press('u');
    assert.equal(Number(stateOf(page)['source.line']), never[0]);
    await page.keyboard.press('u');
    assert.ok(Number(stateOf(page)['source.line']) > never[0]);
    await page.keyboard.press('Shift+U');
    assert.equal(Number(stateOf(page)['source.line']), never[0]);
    await page.keyboard.press('Backspace');
    assert.equal(stateOf(page)['source.file'], undefined);
  }));

test('the search finds files', () =>
  withPage(file, { view: 'source', q: 'nothing' }, async (page) => {
    assert.equal((await tableRows(page)).length, 0);
  }));

test('a page without sources has counts, and one without counts says how to get them', async () => {
  await withPage(writePage(trace), { view: 'source', 'source.file': '0' }, async (page) => {
    const rows = await tableRows(page);
    assert.ok(rows.length > 10);
    assert.ok(rows.every((row) => row.count >= 0));
    assert.match(await page.textContent('main'), /--source=/);
  });
  await withPage(writePage(mixedTrace()), { view: 'source' }, async (page) => {
    assert.match(await page.textContent('main'), /record with blocks=on/);
  });
});
