// A run of 40 s that every view has something of, the same on every machine: its pictures are
// compared (pictures.test.mjs), and its heatmap is known (heatmap.test.mjs).
import { writeTrace } from './post.mjs';

const run = 'app.Main.run(String[])';
const serve = 'app.web.Server.serve(app.web.Request)';
const render = 'app.web.Page.render(app.web.Request,java.io.Writer)';
const match = 'app.text.Rules.matches(String)';
const store = 'app.store.Table.put(long,byte[])';

// By thread: calls, time and memory of a path.
const nodes = [
  ['main', [run], 1, 900],
  ['main', [run, store], 4000, 7000],
  ['main', [run, store, 'java.util.TreeMap.put(Object,Object)'], 4000, 2600],
  ['main', [run, match], 300, 400],
  ...[1, 2, 3].flatMap((n) => [
    [`http-exec-${n}`, [serve], 100 * n, 700 * n],
    [`http-exec-${n}`, [serve, render], 100 * n, 2000 * n],
    [`http-exec-${n}`, [serve, render, match], 9000 * n, 600 * n],
    [`http-exec-${n}`, [serve, render, match, 'java.util.regex.Pattern.compile(String,int)'], 9000 * n, 2300 * n],
    [`http-exec-${n}`, [serve, store], 40 * n, 300],
  ]),
];

// Samples of a thread every `every` ms, while the time is in [from, to) and its offset in a second too.
const samples = [
  { thread: 'main', path: [run, store], every: 20, from: 0, to: 12_000, within: [0, 1000] },
  { thread: 'main', path: [run, match], every: 40, from: 30_000, to: 38_000, within: [0, 1000] },
  { thread: 'http-exec-1', path: [serve, render, match], every: 10, from: 0, to: 40_000, within: [500, 600] },
  { thread: 'http-exec-2', path: [serve, render], every: 20, from: 4_000, to: 40_000, within: [200, 300] },
  { thread: 'http-exec-3', path: [serve, render, match], every: 5, from: 20_000, to: 24_000, within: [0, 1000] },
];
const deeper = ['C:java.util.regex.Pattern.compile(String,int)', 'V:libjvm.so!Runtime::allocate()', 'N:libc.so.6!memcpy', 'K:[kernel]!page_fault'];

export function pictureSamples() {
  const all = [];
  for (const { thread, path, every, from, to, within } of samples) {
    for (let time = from; time < to; time += every) {
      if (time % 1000 >= within[0] && time % 1000 < within[1]) all.push({ time, thread, path });
    }
  }
  return all.sort((a, b) => a.time - b.time);
}

// The same with frames of native code, and what else happened.
function records() {
  const records = [];
  const add = (time, thread, ...words) => records.push([time, `${time}\t${thread}\t${words.join('\t')}`]);
  pictureSamples().forEach(({ time, thread, path }, i) => {
    const frames = [...path.map((name) => `J:${name}`), ...deeper.slice(0, i % 5)];
    add(time, thread, 'sample-at', path.length, ...path, ...frames);
  });
  for (let time = 0; time < 40_000; time += 1000) {
    add(time, 'main', 'jit-load', run, `address=0x${time}000`, 'size=100', `level=${time % 3000 === 0 ? 4 : 3}`);
    if (time < 15_000 || time % 4000 === 0) add(time, 'main', 'class-load', `app.Class${time}`, 'methods=3');
    if (time % 7000 !== 5000) continue;
    add(time, 'main', 'gc-begin', 'Young pause');
    add(time + 60 + time / 100, 'main', 'gc-end', 'Young pause');
  }
  return records.sort(([a], [b]) => a - b).map(([, line]) => line);
}

export function pictureTrace() {
  const counted = nodes.map(
    ([thread, path, calls, base]) => `0\t${thread}\tnode\tcalls=${calls},base=${base},alloc.bytes=${calls * 48}\t${path.join('\t')}`,
  );
  const loss = '#@\tloss\tsamples.dropped\twarning\t3\tsamples were dropped\tmake buffer= larger';
  return writeTrace([loss, ...counted, ...records()], 'ms');
}

// Counts of lines as data.ts has them: some ran, one did partly, one never.
export function pictureSources() {
  const text = ['package app.text;', '', 'final class Rules {', '  boolean matches(String text) {', '    if (text.isEmpty()) return false;', '    return compile(rule).test(text);', '  }', '', '  void never() {', '    throw new Error();', '  }', '}'];
  const file = {
    path: 'app/text/Rules.java', instructions: 64_000, lines: 4, lines_run: 3, branches: 2, branches_taken: 1, ticks: 90,
    marks: '|+|#', number: [4, 5, 6, 10], count: [300, 300, 290, 0], bytecodes: [600, 2400, 5800, 0], cycles: [0, 0, 0, 0],
    self: [1, 9, 80, 0], outcomes: [0, 2, 0, 0], taken: [0, 1, 0, 0], blocks: [[], [300, 10], [], []],
    methods: [
      { name: 'app.text.Rules.matches(String)', routine: 0, first: 4, last: 6, calls: 300, bytecodes: 8800, inlined: false, never_loaded: false },
      { name: 'app.text.Rules.never()', routine: -1, first: 10, last: 10, calls: 0, bytecodes: 0, inlined: false, never_loaded: false },
    ],
    where: 'src', text,
  };
  return { files: [file], without_lines: 0, without_text: 0 };
}
