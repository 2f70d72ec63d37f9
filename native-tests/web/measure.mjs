// How a page of a very large tree opens, by hand: after run_tests.sh, in BUILD/web,
//   JTRACE_POST=…/jtrace-post node tests/measure.mjs [NODES [SAMPLES]]
// With samples the nodes all differ, of 40 threads, and each sample is at another one of them, over 300 s.
// Prints what jtrace-post and Chromium need: seconds, and megabytes of the page's own process.
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const nodes = Number(process.argv[2] ?? 10_000_000);
const samples = Number(process.argv[3] ?? 0);
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

// The nodes that a page holds at most, and when their samples were.
function writeSamples(path) {
  const lines = ['# jtrace-text 1 unit=ns'];
  const pathOf = (i) => [`app.module${i % 9}.Root.run()`, `app.module${i % 97}.Service${i % 7919}.call(int)`, `app.Leaf${i}.work(int,String)`];
  for (let i = 0; i < nodes; ++i) lines.push(`0\tpool-1-thread-${i % 40}\tnode\tcalls=${1 + (i % 7)},base=${1 + ((i * 7919) % 100_003)}\t${pathOf(i).join('\t')}`);
  for (let i = 0; i < samples; ++i) {
    const node = (i * 7) % nodes;
    const time = Math.floor((i / samples) * 300e9);
    lines.push(`${time}\tpool-1-thread-${node % 40}\tsample-at\t3\t${pathOf(node).join('\t')}\t${pathOf(node).map((name) => `J:${name}`).join('\t')}`);
  }
  writeFileSync(path, `${lines.join('\n')}\n`);
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
  if (samples > 0) writeSamples(trace);
  else writeTrace(trace);
  let begin = performance.now();
  execFileSync(process.env.JTRACE_POST, ['--report=html', '-o', page, trace], { stdio: 'inherit' });
  console.log(`${nodes} lines, ${(statSync(trace).size / 1e6).toFixed(0)} MB: page of ${(statSync(page).size / 1e6).toFixed(1)} MB in ${seconds(begin)} s`);
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  for (const view of ['summary', 'flame', 'tree', 'graph', 'threads', 'timeline']) {
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
