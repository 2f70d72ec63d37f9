// The page's model under node, without a browser.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { load } from './support/modules.mjs';
import { dataOf, golden, post, writePage, writeTrace } from './support/post.mjs';
import { emptyTrace, hostileTrace, mixedTrace, randomSitesTrace, sitesTrace, threadsTrace } from './support/traces.mjs';

const [model, routines, arcs, format, names, state, source, layout, rows, column, bands, keys, trust, svg] =
  await Promise.all(
    [
      'model', 'routines', 'arcs', 'format', 'names', 'state', 'flame/source', 'flame/layout', 'tree_rows',
      'table/column', 'timeline/bands', 'keys', 'trust', 'flame/svg',
    ].map(load),
  );

const profileOf = (trace) => new model.Profile(dataOf(readFileSync(writePage(trace), 'utf8')));
const mixed = profileOf(mixedTrace());
const all = [
  mixed,
  ...['fig18a', 'fig18b', 'fig32', 'table2'].map((name) => profileOf(golden(name))),
  ...[sitesTrace(), ...Array.from({ length: 6 }, (_, seed) => randomSitesTrace(seed))].map((trace) => profileOf(trace)),
];

test('sums over nodes are those of jtrace-post itself', () => {
  for (const profile of all) {
    const { flat } = profile.data;
    for (const [id, self, total, total2] of [
      ['ticks', flat.base_ticks, flat.cum_ticks, flat.cum2_ticks],
      ['time', flat.base, flat.cum, flat.cum2],
    ]) {
      const measure = profile.measures.find((each) => each.id === id);
      if (measure === undefined) continue;
      for (let name = 0; name < profile.routineCount; ++name) {
        assert.deepEqual(routines.sumUp(profile, measure, name), {
          name, self: self[name], total: total[name], total2: total2[name],
        });
      }
    }
  }
});

test('nodes know their parents, subtrees and threads', () => {
  for (const profile of all) {
    for (let node = 0; node < profile.nodeCount; ++node) {
      const path = profile.path(node);
      assert.equal(path.length, profile.level[node] + 1);
      assert.equal(profile.roots[profile.thread[node]], path[0]);
      for (const child of profile.children(node)) assert.equal(profile.parent[child], node);
      for (const above of path) assert.ok(above <= node && node < profile.end[above]);
    }
  }
});

test('callers and callees obey the four invariants', () => {
  const sum = (list, get) => list.reduce((total, each) => total + get(each), 0);
  for (const profile of all) {
    for (const measure of profile.measures) {
      for (let name = 0; name < profile.routineCount; ++name) {
        const self = routines.sumUp(profile, measure, name);
        const { callers, callees } = arcs.arcsOf(profile, measure, name);
        const outermost = callers.filter((arc) => !arc.recursive);
        assert.equal(sum(callers, (arc) => arc.self), self.self);
        assert.equal(sum(outermost, (arc) => arc.total), self.total);
        const all = (side) => sum(side, (arc) => sum(arc.nodes, (node) => measure.total[node]));
        assert.equal(all(callers), self.total2);
        assert.equal(all(callees), self.total2 - self.self);
      }
    }
  }
});

// By definition: from each moment up its stack, every arc once.
function naiveArcs(profile, measure, routine) {
  const sums = new Map();
  for (let moment = 0; moment < profile.nodeCount; ++moment) {
    const found = new Set();
    const path = profile.path(moment);
    for (let at = 1; at < path.length; ++at) {
      const [caller, callee] = [profile.name[path[at - 1]], profile.name[path[at]]];
      const above = (end) => path.slice(0, end).some((node) => profile.name[node] === routine);
      const place = profile.place[path[at]];
      if (callee === routine) found.add(`c${caller}${above(at)} ${place}`);
      if (caller === routine) found.add(`e${callee}${above(at - 1)} ${place}`);
    }
    for (const arc of found) sums.set(arc, (sums.get(arc) ?? 0) + measure.self[moment]);
  }
  return sums;
}

// Nested directly, through another routine, and again beside that.
const recursive = profileOf(
  writeTrace([
    '0\tmain\tnode\tcalls=1,base=3\ta.f()',
    '0\tmain\tnode\tcalls=2,base=5\ta.f()\ta.f()',
    '0\tmain\tnode\tcalls=3,base=7\ta.f()\ta.f()\ta.f()',
    '0\tmain\tnode\tcalls=4,base=11\ta.f()\ta.f()\ta.f()\ta.g()',
    '0\tmain\tnode\tcalls=5,base=13\ta.f()\ta.f()\ta.f()\ta.g()\ta.f()',
    '0\tmain\tnode\tcalls=5,base=17\ta.f()\ta.f()\ta.f()\ta.g()\ta.f()\ta.f()',
    '0\tmain\tnode\tcalls=6,base=19\ta.f()\ta.g()',
    '0\tmain\tnode\tcalls=7,base=23\ta.f()\ta.g()\ta.f()',
    '0\tmain\tnode\tcalls=8,base=29\ta.f()\ta.g()\ta.f()\ta.g()',
    '0\tmain\tnode\tcalls=9,base=31\ta.g()',
    '0\tmain\tnode\tcalls=9,base=37\ta.g()\ta.f()',
  ]),
);

test('recursive arcs count each moment once, and no arc exceeds its routine', () => {
  let recursiveArcs = 0;
  for (const profile of [...all, recursive]) {
    for (const measure of profile.measures) {
      for (let name = 0; name < profile.routineCount; ++name) {
        const { callers, callees } = arcs.arcsOf(profile, measure, name);
        const naive = naiveArcs(profile, measure, name);
        const whole = routines.sumUp(profile, measure, name).total;
        for (const [side, list] of [['c', callers], ['e', callees]]) {
          for (const arc of list) {
            assert.equal(arc.total, naive.get(`${side}${arc.other}${arc.recursive} ${arc.place}`));
            assert.ok(arc.total <= whole);
            recursiveArcs += arc.recursive ? 1 : 0;
          }
        }
        assert.equal(callers.length + callees.length, naive.size);
      }
    }
  }
  assert.ok(recursiveArcs > 10);
});

test('deep recursion stays within the program', () => {
  const depth = 2000;
  const level = Array.from({ length: depth + 1 }, (_, i) => i);
  const zero = level.map(() => 0);
  const ones = level.map(() => 1);
  const data = {
    ...recursive.data,
    routines: ['a.f()'], kinds: 'E', threads: [recursive.data.threads[0]], metrics: [],
    nodes: {
      level, name: level.map((at) => (at === 0 ? 1 : 0)), origin: `t${'e'.repeat(depth)}`,
      calls: ones, calls_jitted: zero, base: ones, off: zero, min: zero, max: zero,
      base_ticks: zero, samples: zero, metrics: [],
    },
  };
  const profile = new model.Profile(data);
  const { callers, callees } = arcs.arcsOf(profile, profile.measure('time'), 0);
  const facts = (list) => list.map(({ other, recursive, calls, total }) => [other, recursive, calls, total]);
  assert.deepEqual(facts(callers), [[1, false, 1, depth], [0, true, depth - 1, depth - 1]]);
  assert.deepEqual(facts(callees), [[0, false, 1, depth - 1], [0, true, depth - 2, depth - 2]]);
});

test('time is on a processor only if the clock separates waiting', () => {
  const unit = (...clocks) => {
    const traces = clocks.map((clock) => ({ facts: [['jvm', 'x'], ['clock', clock]] }));
    return new model.Profile({ ...mixed.data, traces }).measure('time').unit;
  };
  assert.equal(mixed.measure('time').unit, 'time on a processor');
  assert.equal(unit('cpu'), 'time on a processor');
  assert.equal(unit('tsc'), 'time (clock=tsc), waiting included');
  assert.equal(unit('coarse', 'cpu'), 'time (clock=coarse), waiting included');
});

test('each sample is in one part', () => {
  const countOf = (merge) => trust.mergeParts({ merge }).reduce((sum, { count }) => sum + count, 0);
  for (const mode of ['chain', 'embed', 'none']) {
    const data = dataOf(readFileSync(writePage(mixedTrace(), `--merge=${mode}`), 'utf8'));
    assert.equal(countOf(data.merge), data.merge.samples, mode);
    const badge = trust.mergeBadge(data);
    const summary = post('--report=summary', `--merge=${mode}`, mixedTrace()).toString();
    assert.equal(/^\d+ samples, not placed/.test(badge.text), mode !== 'chain', badge.text);
    assert.equal(/% of \d+ with events placed/.test(summary), mode === 'chain', summary);
    assert.equal(/not placed among the events/.test(summary), mode !== 'chain', summary);
    if (mode !== 'chain') assert.notEqual(badge.tone, 'bad');
  }
  const some = { samples: 10, unwinds: 0, whole: 6, placed: 5, without_events: 2, unmatched: 1, without_frames: 3 };
  assert.equal(countOf(some), 10); // one has neither events nor frames
  assert.equal(countOf({ ...some, unwinds: 4 }), 14);
  assert.equal(trust.mergeBadge({ merge: { ...some, placed: 0, unmatched: 5 } }).tone, 'bad');
});

test('the callers tree divides each routine among its callers', () => {
  for (const profile of all) {
    for (const measure of profile.measures) {
      const tree = new source.CallersSource(profile, measure);
      assert.equal(tree.value(0), measure.whole);
      for (const node of tree.children(0)) {
        const name = tree.name(node);
        if (name >= profile.routineCount) continue;
        assert.equal(tree.value(node), routines.sumUp(profile, measure, name).self);
        const above = tree.children(node).reduce((sum, caller) => sum + tree.value(caller), 0);
        assert.equal(above, tree.value(node));
      }
    }
  }
});

test('a frame is found again by its address', () => {
  for (const [Source, profile] of [source.CallTreeSource, source.CallersSource].flatMap((each) => [
    [each, mixed],
    [each, all.at(-1)],
  ])) {
    const tree = new Source(profile, profile.measures[0]);
    const seen = [0];
    for (let i = 0; i < seen.length; ++i) seen.push(...tree.children(seen[i]));
    assert.ok(seen.length > 8);
    for (const node of seen) assert.equal(tree.locate(tree.address(node)), node);
    for (const wrong of ['99999', 'x', '1-99-', '-1']) assert.equal(tree.locate(wrong), 0, wrong);
  }
});

test('frames lie under their parents and are found where they lie', () => {
  const tree = new source.CallTreeSource(mixed, mixed.measures[0]);
  const laid = layout.layOut(tree, 0, 1000);
  laid.rows.forEach((row, depth) => {
    row.node.forEach((node, i) => {
      assert.equal(layout.frameAt(laid, depth, row.x[i] + row.width[i] / 2), node);
      const parent = tree.parent(node);
      if (parent < 0) return;
      const above = layout.placeOf(laid, parent);
      assert.equal(above.depth, depth - 1);
      assert.ok(row.x[i] >= above.x - 1e-6);
      assert.ok(row.x[i] + row.width[i] <= above.x + above.width + 1e-6);
    });
  });
  assert.equal(layout.frameAt(laid, 0, 1001), -1);
  assert.equal(layout.frameAt(laid, 99, 1), -1);
});

test('a saved picture has each frame once, where it lies, with hostile names as text', () => {
  assert.equal(svg.hexOf('hsl(0 100% 50%)'), '#ff0000');
  assert.equal(svg.hexOf('hsl(-120 100% 25%)'), '#000080');
  assert.equal(svg.hexOf('hsl(128.5 0% 100%)'), '#ffffff');
  const profile = profileOf(hostileTrace());
  const measure = profile.measures[0];
  const tree = new source.CallTreeSource(profile, measure);
  const laid = layout.layOut(tree, 0, 1000);
  const text = svg.flameSvg({ profile, source: tree, layout: laid, theme: 'light', upwards: true }, measure, 1000);
  const frames = laid.rows.reduce((sum, row) => sum + row.node.length, 0);
  assert.equal(text.match(/<title>/g).length, frames);
  assert.equal(text.match(/<rect x=/g).length, frames);
  assert.doesNotMatch(text, /<script|<img|<b |<i>/);
  // The root is at the bottom, as wide as the picture.
  assert.match(text, new RegExp(`<rect x="0.0" y="${(laid.rows.length - 1) * 19}" width="999.5"`));
});

test('frames too narrow to draw are counted', () => {
  const tree = new source.CallTreeSource(mixed, mixed.measures[0]);
  const laid = layout.layOut(tree, 0, 1);
  const drawn = laid.rows.reduce((sum, row) => sum + row.node.length, 0) - 1;
  // The drawn and the omitted ones are all that have a value.
  const measure = mixed.measures[0];
  let withoutValue = 0;
  for (let node = 0; node < mixed.nodeCount; ) {
    if (measure.total[node] > 0) {
      ++node;
      continue;
    }
    withoutValue += mixed.end[node] - node;
    node = mixed.end[node];
  }
  assert.ok(laid.notDrawn > 0);
  assert.ok(drawn + laid.notDrawn >= mixed.nodeCount - withoutValue);
  assert.ok(drawn + laid.notDrawn <= mixed.nodeCount);
});

test('numbers as people read them', () => {
  assert.equal(format.formatCount(1234567), '1,234,567');
  assert.equal(format.counted(1, 'thread'), '1 thread');
  assert.equal(format.counted(0, 'thread'), '0 threads');
  assert.equal(format.counted(1000, 'thread'), '1,000 threads');
  assert.equal(format.formatNanoseconds(999), '999 ns');
  assert.equal(format.formatNanoseconds(1500), '1.50 µs');
  assert.equal(format.formatNanoseconds(12.34e9), '12.3 s');
  assert.equal(format.formatTime(3, 0), '3');
  assert.equal(format.formatTime(3, 1e6), '3.00 ms');
  assert.equal(format.formatTicks(5, 0), '5');
  assert.equal(format.formatBytes(4096), '4.10 kB');
  assert.equal(format.formatPercent(1, 3), '33.3 %');
  assert.equal(format.formatPercent(1, 1e9), '<0.01 %');
  assert.equal(format.formatPercent(1, 0), '–');
});

test('names are shortened to their distinguishing parts', () => {
  assert.equal(names.shortName('org.h2.Session.commit(boolean)'), 'Session.commit');
  assert.equal(names.shortName('main()'), 'main');
  assert.equal(names.shortName('[libc.so.6+0x10]'), '[libc.so.6+0x10]');
  assert.equal(names.shortName('Thread::call_run()'), 'Thread::call_run');
  assert.deepEqual(names.partsOf('a.b.C.m(int)'), ['a.b.', 'C.m', '(int)']);
  assert.equal(names.partsOf('a.b.C.m(int)').join(''), 'a.b.C.m(int)');
  assert.equal(names.fitted('a.b.C.m(int)', 3), 'C.m');
  assert.equal(names.fitted('a.b.Clazz.m(int)', 4), 'Cla…');
});

test('the state survives its URL', () => {
  const words = { view: 'flame', q: 'a b&c=#d+é', 'flame.at': '12' };
  assert.deepEqual(state.parseHash(state.formatHash(words)), words);
  assert.deepEqual(state.patched(words, { q: undefined, m: 'time' }), {
    view: 'flame', 'flame.at': '12', m: 'time',
  });
});

test('the open nodes of the tree survive the URL', () => {
  const measure = mixed.measures[0];
  const none = rows.Openness.parse(mixed, rows.firstPath(mixed, measure), '');
  const everything = none.set(mixed.name.keys(), true);
  const again = rows.Openness.parse(mixed, rows.firstPath(mixed, measure), everything.format());
  const order = (a, b) => a - b;
  assert.deepEqual(rows.visibleNodes(mixed, again, order), [...mixed.name.keys()]);
  const closed = again.set(mixed.name.keys(), false);
  assert.deepEqual(rows.visibleNodes(mixed, closed, order), [...mixed.roots]);
});

test('the hot path leads down to the hottest', () => {
  const path = rows.hotPath(mixed, mixed.measure('ticks'), mixed.roots[0]);
  assert.deepEqual(path.map((node) => mixed.nameOf(node)).slice(-1), ['memcpy']);
});

test('the tree opens at the hottest path of a thread of the program, down to where it branches', () => {
  const profile = profileOf(threadsTrace());
  const names = (measure) => rows.firstPath(profile, profile.measure(measure)).map((node) => profile.nameOf(node));
  // By time the method itself has most; by samples a path leads on, and ends at its end.
  assert.deepEqual(names('time'), ['pool-1-thread-30', 'app.Pool.run()']);
  assert.deepEqual(names('ticks'), ['pool-1-thread-30', 'app.Pool.run()', 'java.util.HashMap.get(Object)', 'Runtime::slow()', 'memcpy']);
  const measure = profile.measure('ticks');
  const openness = rows.Openness.parse(profile, rows.firstPath(profile, measure), undefined);
  const open = Array.from(profile.level.keys()).filter((node) => openness.isOpen(node));
  assert.deepEqual(open, rows.firstPath(profile, measure));
  assert.deepEqual(rows.firstPath(profileOf(emptyTrace()), measure), []);
});

test('columns sort numbers down and texts up', () => {
  const columns = [
    { id: 'n', value: (row) => row.n },
    { id: 't', value: (row) => row.t },
  ];
  const list = [{ n: 1, t: 'b' }, { n: 3, t: 'a' }, { n: 2, t: 'c' }];
  const by = (text) => column.sorted(list, columns, column.parseSorting(text, 'n')).map(({ n }) => n);
  assert.deepEqual(by(undefined), [3, 2, 1]);
  assert.deepEqual(by('-n'), [1, 2, 3]);
  assert.deepEqual(by('t'), [3, 1, 2]);
  assert.deepEqual(column.clicked({ column: 'n', reversed: false }, 'n'), { column: 'n', reversed: true });
});

test('buckets of a narrow picture are summed up', () => {
  const band = { title: '', unit: '', format: String, series: [{ label: '', hue: 'grey', values: [1, 2, 3, 4, 5] }] };
  const folded = bands.fold([band], 24 + 12); // three bars
  assert.deepEqual(folded.bands[0].series[0].values, [3, 7, 5]);
  assert.equal(bands.roundStep(22.7, 11), 5);
});

test('keys have one name each', () => {
  const key = (of) => keys.keyName({ key: '', ctrlKey: false, metaKey: false, shiftKey: false, ...of });
  assert.equal(key({ key: 'N', shiftKey: true }), 'shift+n');
  assert.equal(key({ key: 'f', ctrlKey: true }), 'ctrl+f');
  assert.equal(key({ key: '?', shiftKey: true }), '?');
});
