// Pictures of every view on a real program, for people to look at: BUILD/web/screenshots/. The test
// asserts that the pages work; only people can judge whether they look good.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { useBrowser, withPage } from './support/browser.mjs';
import { buildFolder, writeDiffPage, writePage } from './support/post.mjs';
import { recordLines, workloads } from './support/recorded.mjs';

useBrowser();

const folder = join(buildFolder, 'web', 'screenshots');
const trace = join(folder, 'h2.bin');
const otherTrace = join(folder, 'h2-again.bin'); // another run, of fewer rounds
const java = join(process.env.JTRACE_JDK_HOME ?? '/usr/lib/jvm/java-17-openjdk-amd64', 'bin', 'java');
let file;
let linesFile; // with counts of lines
let diffFile; // of both runs

// The first seconds of an in-memory H2 database, with counts, times and samples.
function record(out, rounds) {
  rmSync(out, { force: true });
  const options = `mode=merged,clock=tsc,duration=3s,out=${out}`;
  const program = spawn(java, [
    `-agentpath:${join(buildFolder, 'lib', 'libjtrace.so')}=${options}`,
    '-cp',
    `${join(buildFolder, 'java-tests', 'classes')}:/usr/share/java/h2.jar`,
    'H2W',
    `${rounds}`,
  ]);
  return new Promise((resolve, reject) => {
    let said = '';
    program.stderr.on('data', (text) => {
      said += text;
      // The rest of the program's run does not matter.
      if (/wrote .*: [\d,]+ calls/.test(said)) program.kill('SIGKILL');
    });
    program.on('error', reject);
    program.on('exit', () => (/wrote/.test(said) ? resolve() : reject(new Error(said))));
  });
}

before(async () => {
  mkdirSync(folder, { recursive: true });
  await record(trace, 3);
  await record(otherTrace, 2);
  file = writePage(trace);
  diffFile = writeDiffPage([trace, otherTrace]);
  const lines = recordLines(join(folder, 'lines.bin'), 'LineCases', 'mode=merged');
  linesFile = writePage(lines, `--source=${workloads}`);
});

const sizes = {
  wide: { width: 1440, height: 900 }, narrow: { width: 800, height: 700 }, phone: { width: 390, height: 760 },
};
const pictures = {
  summary: {},
  flame: {},
  'flame-zoomed': { view: 'flame', q: 'mvstore', 'flame.at': '2' },
  'flame-up': { view: 'flame', 'flame.as': 'flame', m: 'time' },
  'flame-callers': { view: 'flame', 'flame.of': 'callers' },
  'flame-folded': { view: 'flame', fold: 'jdk.jvm.native' },
  tree: {},
  'tree-folded': { view: 'tree', fold: 'jdk.jvm.native' },
  'tree-calls': { view: 'tree', m: 'calls' },
  flat: {},
  function: {},
  threads: {},
  timeline: {},
  'timeline-range': { view: 'timeline', range: '20-60' },
  'flame-range': { view: 'flame', range: '20-60', fold: 'jvm.native' },
  graph: {},
};
const diffPictures = {
  diff: { view: 'summary', m: 'time' },
  'diff-flame': { view: 'flame', m: 'time', 'flame.width': 'either' },
  'diff-flat': { view: 'flat', m: 'time' },
  'diff-function': { view: 'function', m: 'time' },
};
const linePictures = {
  'source-files': { view: 'source' },
  source: { view: 'source', 'source.file': '0', 'source.line': '109' },
};

for (const [size, viewport] of Object.entries(sizes)) {
  for (const colorScheme of ['light', 'dark']) {
    // The colours are the same in a narrow window.
    if (size !== 'wide' && colorScheme === 'dark') continue;
    test(`screenshots, ${size}, ${colorScheme}`, () =>
      withPage(
        file,
        {},
        async (page) => {
          const views = await page.$$eval('nav a', (links) => links.map((link) => link.hash));
          for (const [name, state] of Object.entries(pictures)) {
            const view = state.view ?? name;
            if (!views.some((hash) => hash.includes(`view=${view}`))) continue;
            await page.evaluate(
              (hash) => (location.hash = hash),
              `${new URLSearchParams({ view, ...state })}`,
            );
            await page.waitForSelector(`nav a[href*="view=${view}"][aria-current=page]`);
            await page.waitForTimeout(60);
            const path = join(folder, `${name}-${size}-${colorScheme}.png`);
            await page.screenshot({ path });
            assert.ok(existsSync(path));
          }
        },
        { viewport, colorScheme },
      ));
    for (const [title, page, pictures] of [
      ['lines', () => linesFile, linePictures],
      ['two traces', () => diffFile, diffPictures],
    ]) {
      test(`screenshots of ${title}, ${size}, ${colorScheme}`, () =>
        withPage(
          page(),
          {},
          async (open) => {
            for (const [name, state] of Object.entries(pictures)) {
              await open.evaluate((hash) => (location.hash = hash), `${new URLSearchParams(state)}`);
              await open.waitForSelector(`nav a[href*="view=${state.view}"][aria-current=page]`);
              await open.waitForTimeout(60);
              const path = join(folder, `${name}-${size}-${colorScheme}.png`);
              await open.screenshot({ path });
              assert.ok(existsSync(path));
            }
          },
          { viewport, colorScheme },
        ));
    }
  }
}
