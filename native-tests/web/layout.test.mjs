// Where things are: the answer is in the first screen, and columns can be used in a narrow window.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useBrowser, withPage } from './support/browser.mjs';
import { writeDiffPage, writePage, writeTrace } from './support/post.mjs';
import { comparedTraces, sitesTrace, threadsTrace } from './support/traces.mjs';

useBrowser();

// A program with findings, whose names are long and whose paths are deep.
function deepTrace() {
  const path = ['org.example.application.Main.main(String[])'];
  const lines = [`0\tmain\tnode\tcalls=1,base=10\t${path[0]}`];
  for (let i = 0; i < 30; ++i) {
    path.push(`org.example.application.service.internal.OrderProcessor${i}.processOrder(java.lang.String,java.util.Map)`);
    lines.push(`0\tmain\tnode\tcalls=${1000 + i},base=${1000 * (i + 1)},alloc.bytes=${70_000 * i}\t${path.join('\t')}`);
  }
  const compile = 'C:java.util.regex.Pattern.compile(String)';
  const java = path.slice(0, 3);
  lines.push(`1\tmain\tsample-at*900\t3\t${java.join('\t')}\t${java.map((name) => `J:${name}`).join('\t')}\t${compile}`);
  lines.push(`1\tmain\tsample-at*100\t1\t${java[0]}\tJ:${java[0]}\tC:java.lang.Integer.valueOf(int)`);
  lines.unshift('#@\tloss\tsamples.dropped\twarning\t3\tsamples were dropped\tmake buffer= larger');
  lines.push('1\tmain\tgc-begin\tYoung pause', '9\tmain\tgc-end\tYoung pause');
  return writeTrace(lines, 'ms');
}

const deep = writePage(deepTrace());

test('the headline and the first findings are in the first screen', () =>
  withPage(
    deep,
    {},
    async (page) => {
      assert.equal(await page.evaluate(() => document.querySelector('main').scrollTop), 0);
      for (const what of ['[data-first]', '.findings li:first-child', '.badges']) {
        const box = await page.locator(what).boundingBox();
        assert.ok(box.y >= 0 && box.y + box.height <= 800, `${what} ends at ${box.y + box.height}`);
        assert.ok(box.x >= 0 && box.x + box.width <= 1280, what);
      }
    },
    { viewport: { width: 1280, height: 800 } },
  ));

test('on a phone findings are before lists of methods and tables', () =>
  withPage(
    deep,
    {},
    async (page) => {
      const top = async (selector) => (await page.locator(selector).first().boundingBox()).y;
      const findings = await top('.found-panel');
      assert.ok((await top('[data-first]')) < findings);
      for (const other of ['main table', '.bars.methods', '.cards', '.glance']) {
        assert.ok(findings < (await top(other)), other);
      }
      const { x, width } = await page.locator('.findings li').first().boundingBox();
      assert.ok(x >= 0 && x + width <= 390);
    },
    { viewport: { width: 390, height: 760 } },
  ));

const sided = writeDiffPage(comparedTraces());
for (const [title, file, state, sorted] of [
  ['call tree', deep, { view: 'tree' }, 'total'],
  ['call tree with call sites', writePage(sitesTrace()), { view: 'tree' }, 'total'],
  ['routines', deep, { view: 'flat', m: 'time' }, 'total'],
  ['threads', writePage(threadsTrace()), { view: 'threads' }, 'ticks'],
  ['routines of two traces', sided, { view: 'flat', m: 'time' }, 'self'],
  ['routines of two traces by samples', sided, { view: 'flat', m: 'ticks' }, 'total'],
]) {
  test(`columns at 1024 pixels: ${title}`, () =>
    withPage(
      file,
      state,
      async (page) => {
        await page.waitForSelector('.table-body [role=row]');
        const cut = await page.$$eval('.table-head [role=columnheader]', (heads) =>
          heads.filter((head) => head.scrollWidth > head.clientWidth + 1).map((head) => head.textContent),
        );
        assert.deepEqual(cut, [], 'titles that are cut');
        const column = await page.locator(`.table-body [data-column=${sorted}]`).first().boundingBox();
        assert.ok(column.x + column.width <= 1024, `${sorted} ends at ${column.x + column.width}`);
        const numbers = await page.$$eval('.table-body .number', (cells) =>
          cells.filter((cell) => cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.textContent),
        );
        assert.deepEqual(numbers, [], 'numbers that are cut');
        // Of each name at least that much is there: class and method come last to be cut.
        const names = await page.$$eval('.table-body [data-column=name] .short', (all) =>
          all.map((each) => [each.textContent, each.clientWidth, Math.min(each.scrollWidth, 140)]),
        );
        for (const [name, wide, wanted] of names) assert.ok(wide >= wanted, `${name}: ${wide} of ${wanted} pixels`);
        assert.ok(state.view === 'threads' || names.length > 5);
      },
      { viewport: { width: 1024, height: 768 } },
    ));
}
