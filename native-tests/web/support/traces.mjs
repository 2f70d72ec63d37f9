// Traces for tests.
import { writeTrace } from './post.mjs';

// Events, samples, recursion, several threads, waiting, a metric, collections, code, classes.
export function mixedTrace() {
  return writeTrace([
    '0\tmain\tclass-load\tapp.Main\tmethods=3',
    '0\tmain\tenter\tapp.Main.run(int)',
    '10\tmain\tenter.j\tapp.Work.step(java.util.List)',
    '15\tmain\tjit-load\tapp.Work.step(java.util.List)\taddress=0x1000\tsize=100\tlevel=4',
    '20\tmain\tmetric\talloc.bytes\t4096',
    '25\tmain\tsample*3\tC:app.Main.run(int)\tC:app.Work.step(java.util.List)\tI:app.Util.hash(long)\tN:libc.so.6!memcpy',
    '30\tmain\tenter.j\tapp.Work.step(java.util.List)',
    '40\tmain\tsample\tC:app.Main.run(int)\tC:app.Work.step(java.util.List)\tC:app.Work.step(java.util.List)',
    '45\tmain\texit.j\tapp.Work.step(java.util.List)',
    '50\tmain\toff',
    '80\tmain\ton',
    '85\tmain\texit.j\tapp.Work.step(java.util.List)',
    '90\tmain\tgc-begin\tYoung pause',
    '95\tmain\tgc-end\tYoung pause',
    '96\tmain\tenter\tapp.Work.step(java.util.List)',
    '97\tmain\tmetric\talloc.bytes\t100',
    '99\tmain\texit\tapp.Work.step(java.util.List)',
    '100\tmain\tenter\tapp.Util.hash(long)',
    '120\tmain\texit\tapp.Util.hash(long)',
    '130\tmain\texit\tapp.Main.run(int)',
    '0\tpool-1\tenter\tapp.Pool.loop()',
    '5\tpool-1\tenter\tapp.Work.step(java.util.List)',
    '35\tpool-1\tsample*2\tC:app.Pool.loop()\tC:app.Work.step(java.util.List)\tK:[kernel]!sys_read',
    '60\tpool-1\texit\tapp.Work.step(java.util.List)',
    '61\tpool-1\tsample\tV:libjvm.so!Unknown::frame()',
    '70\tpool-1\texit\tapp.Pool.loop()',
    '40\tGC Thread#0\tsample*4\tN:libc.so.6!start_thread\tV:libjvm.so!G1::collect()',
  ]);
}

// Two runs of a program: step() is slower, old() is gone, fresh() is new, the pool's threads are
// other ones, and one method calls itself.
export function comparedTraces() {
  const run = (thread, nodes, samples) => [
    ...nodes.map(([calls, base, path]) => `0\t${thread}\tnode\tcalls=${calls},base=${base},alloc.bytes=${base * 16}\t${path}`),
    ...samples.flatMap(([count, path]) => Array(count).fill(`1\t${thread}\tsample\t${path}`)),
  ];
  const before = [
    ...run(
      'main',
      [
        [1, 100, 'app.Main.run()'],
        [40, 400, 'app.Main.run()\tapp.Work.step(long)'],
        [80, 80, 'app.Main.run()\tapp.Work.step(long)\tapp.Util.hash(long)'],
        [7, 70, 'app.Main.run()\tapp.Work.old()'],
        [5, 50, 'app.Main.run()\tapp.Work.old()\tapp.Util.hash(long)'],
        [3, 30, 'app.Main.run()\tapp.Tree.walk(int)'],
        [6, 60, 'app.Main.run()\tapp.Tree.walk(int)\tapp.Tree.walk(int)'],
      ],
      [
        [40, 'C:app.Main.run()\tC:app.Work.step(long)'],
        [20, 'C:app.Main.run()\tC:app.Work.old()'],
        [9, 'C:app.Main.run()\tC:app.Work.step(long)\tN:libc.so.6!memcpy'],
      ],
    ),
    ...run('pool-1', [[9, 90, 'app.Pool.loop()']], [[30, 'C:app.Pool.loop()']]),
    '1\tGC Thread#0\tsample*4\tN:libc.so.6!start_thread\tV:libjvm.so!G1::collect()',
  ];
  const after = [
    ...run(
      'main',
      [
        [1, 110, 'app.Main.run()'],
        [40, 900, 'app.Main.run()\tapp.Work.step(long)'],
        [90, 90, 'app.Main.run()\tapp.Work.step(long)\tapp.Util.hash(long)'],
        [2, 20, 'app.Main.run()\tapp.Work.fresh()'],
        [4, 40, 'app.Main.run()\tapp.Work.fresh()\tapp.Util.hash(long)'],
        [3, 30, 'app.Main.run()\tapp.Tree.walk(int)'],
        [2, 20, 'app.Main.run()\tapp.Tree.walk(int)\tapp.Tree.walk(int)'],
      ],
      [
        [90, 'C:app.Main.run()\tC:app.Work.step(long)'],
        [25, 'C:app.Main.run()\tC:app.Work.fresh()'],
        [11, 'C:app.Main.run()\tC:app.Work.step(long)\tN:libc.so.6!memcpy'],
      ],
    ),
    ...run('pool-7', [[4, 40, 'app.Pool.loop()']], [[8, 'C:app.Pool.loop()']]),
    ...run('pool-8', [[5, 55, 'app.Pool.loop()']], [[9, 'C:app.Pool.loop()']]),
  ];
  return [writeTrace(before), writeTrace(after)];
}

// Calls by the line that makes them: run() calls step() from lines 12 and 15 and from code without
// lines, itself from line 20, and hash() from three lines, past step(), which calls it too.
export function sitesTrace() {
  return writeTrace([
    '0\tmain\tnode\tcalls=1,base=100\tapp.Main.run(int)',
    '0\tmain\tnode\tcalls=3,base=300\tapp.Main.run(int)\\:12\tapp.Work.step(long)',
    '0\tmain\tnode\tcalls=5,base=500\tapp.Main.run(int)\\:15\tapp.Work.step(long)',
    '0\tmain\tnode\tcalls=7,base=70\tapp.Main.run(int)\\@17\tapp.Work.step(long)',
    '0\tmain\tnode\tcalls=2,base=20\tapp.Main.run(int)\\:20\tapp.Main.run(int)',
    '0\tmain\tnode\tcalls=4,base=40\tapp.Main.run(int)\\:20\tapp.Main.run(int)\\:12\tapp.Work.step(long)',
    '0\tmain\tnode\tcalls=9,base=90\tapp.Main.run(int)\\:15\tapp.Work.step(long)\\:33\tapp.Util.hash(long)',
    ...[41, 42, 43].map((line) => `0\tmain\tnode\tcalls=8,base=80\tapp.Main.run(int)\\:${line}\tapp.Util.hash(long)`),
  ]);
}

// A random one with recursion, several threads, samples, nodes with and without places.
export function randomSitesTrace(seed, threads = ['main', 'worker']) {
  let state = seed + 1;
  const random = (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const routines = ['a.A.run()', 'a.B.go(int)', 'c.C.c()', 'D', 'std::map<E, F> >'];
  const place = () => ['', '\\:7', '\\:9', '\\@3'][random(4)];
  const lines = [];
  for (let i = 0; i < 60; ++i) {
    const path = Array.from({ length: 1 + random(5) }, () => routines[random(routines.length)]);
    const steps = path.map((name, at) => name + (at + 1 < path.length ? place() : ''));
    const begin = `0\t${threads[random(threads.length)]}\t`;
    if (i % 10 === 0) {
      const at = `0\tmain\tsample-at*2\t2\tA\\:2\tX\tA\\:1\tX\\:5\tY\\:6\tX\\:5\tY`;
      lines.push('0\tmain\tnode\tcalls=1\tA', '0\tmain\tnode\tcalls=1\tA\\:2\tX', at);
    }
    lines.push(
      random(4) === 0
        ? `${begin}sample*${1 + random(4)}\t${steps.join('\t')}`
        : `${begin}node\tcalls=${1 + random(9)},base=${random(50)},min=1,max=${2 + random(9)}\t${steps.join('\t')}`,
    );
  }
  return writeTrace(lines);
}

// Threads that do the same, one that only looks so, and a JVM's own. The JDK, native code and the
// JVM are on their paths.
export function threadsTrace() {
  const work = (thread, time, ticks) => [
    `0\t${thread}\tnode\tcalls=1,base=${time}\tapp.Pool.run()`,
    `0\t${thread}\tnode\tcalls=2,base=10\tapp.Pool.run()\tjava.util.HashMap.get(Object)`,
    `0\t${thread}\tnode\tcalls=3,base=5\tapp.Pool.run()\tjava.util.HashMap.get(Object)\tjava.util.HashMap.hash(Object)`,
    `0\t${thread}\tnode\tcalls=4,base=7\tapp.Pool.run()\tjava.util.HashMap.get(Object)\tjava.util.HashMap.hash(Object)\tapp.Key.hashCode()`,
    `0\t${thread}\tnode\tcalls=6,base=8\tapp.Pool.run()\tapp.Key.hashCode()`,
    `1\t${thread}\tsample*${ticks}\tC:app.Pool.run()\tC:java.util.HashMap.get(Object)\tV:libjvm.so!Runtime::slow()\tN:libc.so.6!memcpy`,
    `2\t${thread}\tsample\tC:app.Pool.run()\tN:libc.so.6!read\tK:[kernel]!sys_read`,
  ];
  return writeTrace([
    ...work('pool-1-thread-1', 100, 1),
    ...work('main', 50, 2),
    ...work('pool-1-thread-2', 200, 3),
    ...work('pool-1-thread-30', 400, 5),
    ...work('pool-thread', 30, 1),
    '1\tC1 CompilerThread0\tsample*90\tN:libc.so.6!start_thread\tV:libjvm.so!Compiler::run()',
    '1\tC2 CompilerThread0\tsample*20\tN:libc.so.6!start_thread\tV:libjvm.so!Compiler::run()',
  ]);
}

// Samples at times that each stand for themselves: one method in the first half, another in the second.
export function timesTrace() {
  const lines = ['0\tmain\tclass-load\tapp.A', '0\tmain\tnode\tcalls=5,base=9\tapp.A.first()'];
  for (let time = 0; time < 1000; time += 100) {
    const method = time < 500 ? 'app.A.first()' : 'app.A.second()';
    lines.push(`${time}\tmain\tsample*${1 + time / 100}\tC:app.A.main()\tC:${method}`);
    if (time % 200 === 0) lines.push(`${time}\tpool-${time}\tsample\tC:app.A.main()\tN:libc.so.6!read`);
  }
  return writeTrace(lines);
}

export function emptyTrace() {
  return writeTrace([]);
}

export function samplesOnlyTrace() {
  return writeTrace([
    '1\tmain\tsample*2\tJ:app.A.main()\tJ:app.A.b()',
    '2\tmain\tsample\tJ:app.A.main()',
  ]);
}

export function eventsOnlyTrace() {
  return writeTrace(
    [
      '0\tmain\tnode\tcalls=3\tapp.A.main()',
      '0\tmain\tnode\tcalls=700\tapp.A.main()\tapp.A.b()',
    ],
    'ns',
  );
}

export const hostileNames = [
  '<script>document.title="owned"</script>',
  '</script><img src=x onerror=alert(1)>',
  '"><b onmouseover="alert(1)">',
  "it's `${process}` {{DATA}} &amp; &lt;",
  `app.Long.${'x'.repeat(5000)}(int)`,
  'app.\u202Eevil\u202C.reversed()',
  'אפ.מחלקה.שיטה(int)',
  '应用.类.方法(字符串)',
  'app.Emoji.🔥(String)',
  '__proto__',
  'constructor',
  '--><!--',
];

export function hostileTrace() {
  const lines = [];
  hostileNames.forEach((name, i) => {
    lines.push(`${i * 10}\t<i>thread</i>\tenter\t${name}`);
    lines.push(`${i * 10 + 5}\t<i>thread</i>\texit\t${name}`);
  });
  return writeTrace(lines);
}

// A tree of that many nodes: three levels of fan-out with uneven times.
export function bigTrace(nodes) {
  const lines = [];
  const wide = Math.ceil(Math.sqrt(nodes));
  for (let i = 0; lines.length < nodes; ++i) {
    lines.push(`0\tmain\tnode\tcalls=${i + 1},base=${(i * 7919) % 1000}\tapp.Outer.m${i}()`);
    for (let j = 0; j < wide && lines.length < nodes; ++j) {
      const time = (i * 31 + j * 17) % 997;
      lines.push(`0\tmain\tnode\tcalls=${j + 1},base=${time}\tapp.Outer.m${i}()\tapp.Inner.n${j}(int)`);
    }
  }
  return writeTrace(lines);
}
