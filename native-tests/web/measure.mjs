// How a page of a very large tree opens, by hand: after run_tests.sh, in BUILD/web,
//   JTRACE_POST=…/jtrace-post node tests/measure.mjs [NODES]
// Prints what jtrace-post and Chromium need: seconds, and megabytes of the page's own process.
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const nodes = Number(process.argv[2] ?? 10_000_000);
const folder = mkdtempSync(join(tmpdir(), 'jtrace-measure-'));
const seconds = (since) => ((performance.now() - since) / 1000).toFixed(2);

// Levels of fan-out 10 below 8 threads of a pool, with uneven times.
function writeTrace(path) {
  const file = openSync(path, 'w');
  writeSync(file, '# jtrace-text 1 unit=ns\n');
  let lines = [];
  const digits = Math.ceil(Math.log10(nodes / 8));
  for (let i = 0; i < nodes; ++i) {
    const number = String(Math.floor(i / 8)).padStart(digits, '0');
    const path = Array.from(number, (digit, level) => `app.layer${level}.Service${digit}.call${digit}(int)`);
    const node = `calls=${1 + (i % 7)},base=${1 + ((i * 7919) % 100_003)}`;
    lines.push(`0\tpool-1-thread-${i % 8}\tnode\t${node}\t${path.join('\t')}`);
    if (lines.length === 20_000) {
      writeSync(file, `${lines.join('\n')}\n`);
      lines = [];
    }
  }
  writeSync(file, `${lines.join('\n')}\n`);
  closeSync(file);
}

// Of the browser's processes that draw pages, the greatest.
function rendererMegabytes() {
  const sizes = readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .map((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--type=renderer')) return 0;
        const [, kilobytes] = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8').match(/Pss: +(\d+)/);
        return Number(kilobytes) / 1024;
      } catch {
        return 0; // it has ended
      }
    });
  return Math.max(...sizes).toFixed(0);
}

const trace = join(folder, 'big.jtxt');
const page = join(folder, 'big.html');
try {
  writeTrace(trace);
  let begin = performance.now();
  execFileSync(process.env.JTRACE_POST, ['--report=html', '-o', page, trace], { stdio: 'inherit' });
  console.log(`${nodes} lines, ${(statSync(trace).size / 1e6).toFixed(0)} MB: page of ${(statSync(page).size / 1e6).toFixed(1)} MB in ${seconds(begin)} s`);
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  for (const view of ['summary', 'flame', 'tree', 'threads']) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const tab = await context.newPage();
    begin = performance.now();
    await tab.goto(`${pathToFileURL(page)}#view=${view}`);
    await tab.waitForSelector('main > section');
    await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
    console.log(`${view}: ${seconds(begin)} s, ${rendererMegabytes()} MB`);
    await context.close();
  }
  await browser.close();
} finally {
  rmSync(folder, { recursive: true });
}
