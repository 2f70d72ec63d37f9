// The call graph's model under node: its numbers are those of --report=graph.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { load } from './support/modules.mjs';
import { csv, dataOf, golden, writePage, writeTrace } from './support/post.mjs';
import { bigTrace, mixedTrace, randomSitesTrace, sitesTrace } from './support/traces.mjs';

const [{ Profile }, width, filter, graphs, pictures, { layOut }, { nearestInOrder }, labels, cameras, options, sites, paths] =
  await Promise.all(
    [
      'model', 'graph/arc_width', 'graph/time_filter', 'graph/call_graph', 'graph/picture', 'graph/layout', 'graph/place',
      'graph/label', 'graph/camera', 'graph/options', 'sites', 'graph/paths',
    ].map(load),
  );

const profileOf = (trace) => new Profile(dataOf(readFileSync(writePage(trace), 'utf8')));

// A number below `below`; the same ones in every run.
function randomNumbers(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

// Calls with recursion, and samples if requested, of a few routines in two threads.
function randomTrace(seed) {
  const random = randomNumbers(seed);
  const routines = ['a.A.run()', 'a.B.go(int)', 'c.C.c()', 'D', 'std::map<E, F> >', 'g'];
  const pick = () => routines[random(routines.length)];
  const lines = [];
  for (const thread of ['main', 'worker']) {
    const open = [];
    for (let time = 0; time < 120; time += 1 + random(3)) {
      const op = random(5);
      if (op < 2 && open.length < 9) {
        open.push(pick());
        lines.push(`${time}\t${thread}\tenter\t${open.at(-1)}`);
      } else if (op < 4 && open.length > 0) {
        lines.push(`${time}\t${thread}\texit\t${open.pop()}`);
      } else if (seed % 2 === 0) {
        const frames = [...open, `N:libc.so.6!${pick()}`].map((frame) => `\t${frame}`).join('');
        lines.push(`${time}\t${thread}\tsample*${1 + random(4)}${frames}`);
      }
    }
  }
  return writeTrace(lines);
}

const heatOf = (profile) => profile.measures[0];

// As C++ prints it: of two numbers that are equally near the even one. Such ties are eighths.
function fixed(number) {
  const text = number.toFixed(2);
  const isTie = Number.isInteger(8 * number) && (1000 * number) % 10 === 5;
  return isTie && Number(text.at(-1)) % 2 === 1 ? (number - 0.005).toFixed(2) : text;
}

function siteOf(profile, graph, arc) {
  const line = sites.placeText(arc.place);
  return line === '' ? '' : labels.fullName(profile, graph.nodes[arc.caller].name) + line;
}

// As the rows of --report=graph.
function rowsOf(profile, { root = graphs.kAllThreads, percent, widths, by = 'total' }) {
  const graph = graphs.buildGraph(profile, heatOf(profile), {
    root, filter: percent, details: new Map(), most: Infinity,
  });
  const shares = graph.arcs.map((arc) => (by === 'self' ? arc.selfShare : arc.share));
  const drawn = width.arcWidthsOf(width.parseArcWidths(widths), shares);
  return graph.arcs.map((arc, i) => ({
    caller: labels.fullName(profile, graph.nodes[arc.caller].name),
    callee: labels.fullName(profile, graph.nodes[arc.callee].name),
    calls: arc.calls,
    calls_collapsed: arc.callsCollapsed,
    total: arc.total,
    total2: arc.total2,
    inclusive: arc.inclusive,
    share: fixed(100 * arc.share),
    width: drawn[i].toFixed(2),
    recursion: arc.recursion === 'none' ? '' : arc.recursion,
    self: arc.self,
    self_share: fixed(100 * arc.selfShare),
    ...(profile.hasPlaces && { site: siteOf(profile, graph, arc) }),
  }));
}

function reported(trace, ...args) {
  return csv('graph', trace, ...args).map(({ unit, share, width: drawn, self, self_share, ...row }) => ({
    ...row, share: share.toFixed(2), width: drawn.toFixed(2), self: Number(self), self_share: self_share.toFixed(2),
  }));
}

const key = (row) => JSON.stringify(Object.entries(row).sort());
const sorted = (rows) => rows.map(key).sort();

const traces = [
  mixedTrace(), bigTrace(400), ...['fig18a', 'fig18b', 'fig32', 'table2'].map(golden),
  ...Array.from({ length: 12 }, (_, seed) => randomTrace(seed)),
  sitesTrace(), ...Array.from({ length: 8 }, (_, seed) => randomSitesTrace(seed)),
];

test('arcs are those of --report=graph, whatever is collapsed', () => {
  for (const trace of traces) {
    const profile = profileOf(trace);
    for (const [percent, widths, by] of [
      [0, 'adaptive', 'total'], [12, 'logarithmic', 'total'], [35, 'linear', 'total'], [0, 'exponential', 'total'],
      [3, '1:2,10:5,50:9', 'total'], [0, 'adaptive', 'self'], [5, 'exponential', 'self'], [0, '0:3,2.5:4', 'self'],
    ]) {
      const expected = reported(trace, `--filter=${percent}`, `--widths=${widths}`, `--width-by=${by}`);
      assert.deepEqual(sorted(rowsOf(profile, { percent, widths, by })), sorted(expected), `${trace} ${percent} ${by}`);
    }
  }
});

test('the first filter is that of --report=graph', () => {
  for (const trace of traces) {
    const profile = profileOf(trace);
    const costs = graphs.costsOf(profile, heatOf(profile), graphs.kAllThreads);
    const percent = filter.firstFilter(graphs.routineTotals(profile, costs), costs.whole);
    assert.deepEqual(sorted(rowsOf(profile, { percent, widths: 'none' })), sorted(reported(trace, '--widths=none')));
  }
});

test('a virtual root is the whole', () => {
  for (const trace of traces.slice(2)) {
    const profile = profileOf(trace);
    for (let root = 0; root < profile.routineCount; ++root) {
      // For a root without cost there is nothing to draw, or jtrace-post uses another measure.
      if (graphs.costsOf(profile, heatOf(profile), root).whole === 0) continue;
      const expected = reported(trace, '--filter=10', '--widths=linear', `--root=${profile.text(root)}`);
      const [first, ...below] = expected;
      assert.equal(first.caller, '[all threads]');
      assert.equal(first.share, '100.00');
      const shown = rowsOf(profile, { root, percent: 10, widths: 'linear' });
      assert.deepEqual(sorted(shown), sorted(below), `${trace} ${profile.text(root)}`);
    }
  }
});

test('everything that is spent is in some node', () => {
  for (const trace of traces) {
    const profile = profileOf(trace);
    for (const measure of profile.measures) {
      for (const percent of [0, 5, 50]) {
        const graph = graphs.buildGraph(profile, measure, {
          root: graphs.kAllThreads, filter: percent, details: new Map(), most: Infinity,
        });
        const spent = graph.nodes.reduce((sum, node) => sum + node.self + node.collapsed, 0);
        assert.equal(spent, measure.whole);
        for (const [index, node] of graph.nodes.entries()) {
          if (index === 0) continue;
          const into = graph.arcs.filter((arc) => arc.callee === index);
          assert.equal(into.reduce((sum, arc) => sum + arc.total, 0), node.total);
        }
      }
    }
  }
});

const nameOf = (profile, text) => Array.from({ length: profile.routineCount }, (_, i) => profile.text(i)).indexOf(text);
const shownOf = (profile, graph) => graph.nodes.map((node) => labels.fullName(profile, node.name)).sort();

test('filter 0 shows every function, however many', () => {
  const profile = profileOf(writeTrace([
    '0\tmain\tnode\tcalls=1,base=5\tapp.Main.run()',
    ...Array.from({ length: 900 }, (_, i) => `0\tmain\tnode\tcalls=1,base=${i % 7}\tapp.Main.run()\tapp.F.f${i}()`),
  ]));
  const pictureAt = (state) =>
    pictures.makePicture(profile, heatOf(profile), options.settingsOf(state, profile.routineCount), (text) => 6 * text.length);
  const all = pictureAt({ 'graph.filter': '0' });
  assert.deepEqual([all.filter, all.graph.nodes.length, all.graph.hidden], [0, 902, 0]);
  assert.equal(all.layout.boxes.length, 902);
  // At first, and at any other filter, only as many as can be read.
  for (const state of [{}, { 'graph.filter': '0.1' }]) {
    const few = pictureAt(state);
    assert.ok(few.filter > 0);
    assert.ok(few.graph.nodes.length <= pictures.kMostNodes + 1);
    assert.equal(few.graph.nodes.length + few.graph.hidden, 902);
  }
});

test('filter 0 shows functions that give back more than they take', () => {
  const profile = profileOf(writeTrace([
    '0\tmain\tnode\tcalls=1,room=9\tA', '0\tmain\tnode\tcalls=1,room=-2\tA\tFrees',
  ]));
  const graph = graphs.buildGraph(profile, profile.measures.find((measure) => measure.label === 'room'), {
    root: graphs.kAllThreads, filter: 0, details: new Map(), most: Infinity,
  });
  assert.deepEqual(shownOf(profile, graph), ['A', 'Frees', '[all threads]']);
});

test('a node is collapsed, filtered, or shows all it calls', () => {
  const profile = profileOf(golden('table2'));
  const graphWith = (percent, details) =>
    graphs.buildGraph(profile, heatOf(profile), {
      root: graphs.kAllThreads, filter: percent, details: new Map(details), most: Infinity,
    });
  const [b, c] = [nameOf(profile, 'B'), nameOf(profile, 'C')];
  // D keeps the time that C spent in it; B's time is in B.
  const collapsed = graphWith(0, [[b, 'collapsed']]);
  assert.equal(collapsed.nodes.find((node) => node.name === b).collapsed, 30000);
  assert.deepEqual(shownOf(profile, collapsed), ['A', 'B', 'C', 'D', '[all threads]', 'main', 'start']);
  const both = graphWith(0, [[b, 'collapsed'], [c, 'collapsed']]);
  assert.deepEqual(shownOf(profile, both), ['A', 'B', 'C', '[all threads]', 'main', 'start']);
  assert.equal(both.hidden, 1);
  // D and C have 39.6 %.
  assert.deepEqual(shownOf(profile, graphWith(45, [])), ['A', 'B', '[all threads]', 'main', 'start']);
  const all = graphWith(45, [[b, 'all']]);
  assert.deepEqual(shownOf(profile, all), ['A', 'B', 'D', '[all threads]', 'main', 'start']);
  assert.equal(all.arcs.filter((arc) => arc.callee === all.nodes.findIndex((node) => profile.text(node.name) === 'D')).length, 2);
});

test('an arc knows its calling paths, collapsed ones included', () => {
  const profile = profileOf(golden('table2'));
  const measure = heatOf(profile);
  const graph = graphs.buildGraph(profile, measure, {
    root: graphs.kAllThreads, filter: 39.8, details: new Map([[nameOf(profile, 'B'), 'all']]), most: Infinity,
  });
  const index = (text) => graph.nodes.findIndex((node) => labels.fullName(profile, node.name) === text);
  const arc = graph.arcs.find((each) => each.caller === index('A') && each.callee === index('D'));
  assert.equal(arc.callsCollapsed, 40); // C's, which has less than 39.8 %
  const [path, ...others] = graphs.pathsOf(profile, measure, graph, arc, 5);
  assert.deepEqual(path.nodes.map((node) => profile.nameOf(node)), ['main-thread', 'start', 'main', 'A', 'C', 'D']);
  assert.deepEqual([path.value, path.calls, others.length], [10000, 40, 0]);
});

test('the arcs of a line have its calling paths', () => {
  for (let seed = 0; seed < 8; ++seed) {
    const profile = profileOf(randomSitesTrace(seed));
    const measure = profile.measure('calls');
    for (const filter of [0, 20]) {
      const graph = graphs.buildGraph(profile, measure, {
        root: graphs.kAllThreads, filter, details: new Map(), most: Infinity,
      });
      assert.ok(filter > 0 || graph.arcs.some((arc) => arc.place > 0));
      for (const arc of graph.arcs) {
        const found = graphs.pathsOf(profile, measure, graph, arc, Infinity);
        assert.equal(found.reduce((sum, path) => sum + path.calls, 0), arc.calls);
      }
    }
  }
});

test('the text of an arc is on its first curve', () => {
  assert.deepEqual(paths.middleOf('M0,0C0,50 100,50 100,100V120C1,2 3,4 5,6'), [50, 50]);
  assert.deepEqual(paths.middleOf('M-8,16C-8,0 8,0 8,16'), [0, 4]);
});

// The same values as native-tests/postproc/report/arc_width_test.cc.
test('the widths', () => {
  const of = (name, t, least) => width.arcWidth(width.parseArcWidths(name), t, least);
  const near = (value, expected) => assert.ok(Math.abs(value - expected) < 1e-6, `${value} ${expected}`);
  assert.equal(of('none', 1, 0.5), 1);
  for (const [t, expected] of [[0, 1], [0.001, 1], [0.1, 1], [0.1001, 2], [0.5, 5], [0.928, 10], [1, 10]]) {
    assert.equal(of('linear', t, 1), expected);
  }
  for (let tenths = 1; tenths <= 10; ++tenths) assert.equal(of('linear', tenths / 10, 1), tenths);
  for (const [t, expected] of [
    [0, 1], [0.001, 1], [0.004, 2.0000361], [0.01, 3.3219425], [0.064, 6.0000023], [0.1, 6.6438576],
    [0.5, 8.9657846], [0.512, 9], [1, 9],
  ]) {
    near(of('logarithmic', t, 1), expected);
  }
  for (const [t, least, expected] of [
    [0.01, 0.01, 1], [0.1, 0.01, 5.5], [1, 0.01, 10], [0.5, 0.25, 5.5], [0.01, 0.001, 4], [0.1, 0.001, 7],
    [0, 0.01, 1], [1, 1, 10], [0, 1, 1],
  ]) {
    near(of('adaptive', t, least), expected);
  }
  for (const [t, expected] of [[0, 1], [0.01, 1.1094518], [0.1, 2.0467884], [0.5, 5.3281627], [1, 7.9533261]]) {
    near(of('exponential', t, 1), expected);
  }
  for (const [t, expected] of [
    [0, 1], [0.0099, 1], [0.01, 2], [0.0999, 2], [0.1, 5.5], [0.4999, 5.5], [0.5, 9], [1, 9],
  ]) {
    assert.equal(of('1:2,10:5.5,50:9', t, 1), expected);
  }
  assert.deepEqual(width.formatArcWidths(width.parseArcWidths('1:2,10:5.5,50:9')), '1:2,10:5.5,50:9');
  for (const bad of [
    '', '1', '1:', ':2', '1:2,', '1:0', '1:-2', '101:2', '-1:2', '1:101', '10:2,1:3', '1:2,1:3', '1:nan', 'table', '1:2;10:5',
  ]) {
    assert.equal(width.parseArcWidths(bad), undefined, bad);
  }
});

// The same values as native-tests/postproc/graph/time_filter_test.cc.
test('the filter that thirty functions pass', () => {
  const upTo = (count) => filter.firstFilter(Array.from({ length: count }, (_, i) => i + 1), 1000);
  assert.equal(filter.firstFilter([], 1000), 0);
  assert.equal(upTo(30), 0);
  assert.equal(upTo(31), 0.2);
  assert.equal(upTo(130), 10.1);
  const totals = Array.from({ length: 40 }, (_, i) => (i < 29 ? 1300 : i === 39 ? 1234 : 1));
  assert.equal(filter.firstFilter(totals, 10000), 12.4);
  assert.equal(filter.firstFilter(totals, 12340), 10);
  assert.equal(filter.firstFilter(Array(50).fill(900), 1000), 20);
  assert.equal(filter.firstFilter([100, ...Array(999).fill(0)], 100), 0.1);
  assert.equal(filter.firstFilter(Array(32).fill(1), 32), 3.1);
  assert.equal(filter.firstFilter(Array(300000).fill(1), 300000), 0);
  const equal = Array(40).fill(25);
  assert.equal(filter.firstFilter([...equal, 1000, 1000], 1001), 2.4);
  assert.equal(filter.firstFilter([...equal, 1000, 1000, 1000], 1001), 2.5);
});

function randomGraph(seed, boxes, links) {
  const random = randomNumbers(seed);
  const sizes = Array.from({ length: boxes }, () => ({ width: 60 + random(200), height: 26 }));
  const made = Array.from({ length: boxes - 1 }, (_, i) => ({ from: random(i + 1), to: i + 1, width: 1 + random(9) }));
  while (made.length < links) made.push({ from: random(boxes), to: random(boxes), width: 1 + random(9) });
  return [sizes, made];
}

test('no box of a drawing lies over another, and arcs flow down', () => {
  for (let seed = 1; seed <= 20; ++seed) {
    const [sizes, links] = randomGraph(seed, 5 + seed * 4, 10 + seed * 9);
    const { boxes, up, paths, width: w, height: h } = layOut(sizes, links);
    boxes.forEach((box, i) => {
      assert.ok(box.x >= 0 && box.y >= 0 && box.x + box.width <= w + 0.1 && box.y + box.height <= h + 0.1);
      assert.ok(box.width >= sizes[i].width);
      for (const other of boxes.slice(i + 1)) {
        const apart =
          box.x + box.width <= other.x + 0.1 || other.x + other.width <= box.x + 0.1 ||
          box.y + box.height <= other.y || other.y + other.height <= box.y;
        assert.ok(apart, `seed ${seed}`);
      }
    });
    links.forEach(({ from, to }, i) => {
      assert.equal(up[i], boxes[from].y >= boxes[to].y, `seed ${seed}`);
      assert.match(paths[i], /^M[-\d.,]+C/);
      assert.doesNotMatch(paths[i], /NaN|Infinity/);
      // A curve stays between its points: the overview shows all of it.
      const across = [...paths[i].matchAll(/(-?[\d.]+),(-?[\d.]+)/g)].map(([, x]) => Number(x));
      assert.ok(across.every((x) => x >= -0.1 && x <= w + 0.1), `seed ${seed}`);
    });
  }
});

test('arcs begin and end at their boxes', () => {
  const [sizes, links] = randomGraph(7, 60, 150);
  const { boxes, up, paths } = layOut(sizes, links);
  links.forEach(({ from, to }, i) => {
    if (up[i]) return;
    const numbers = paths[i].match(/-?[\d.]+/g).map(Number);
    const [x, y] = numbers;
    const [endX, endY] = numbers.slice(-2);
    const within = (box, at) => at >= box.x - 0.1 && at <= box.x + box.width + 0.1;
    assert.ok(within(boxes[from], x) && Math.abs(y - boxes[from].y - boxes[from].height) < 0.2);
    assert.ok(within(boxes[to], endX) && Math.abs(endY - boxes[to].y) < 0.2);
  });
});

// Against all placements on a grid.
test('places in order are the nearest ones', () => {
  const random = randomNumbers(5);
  const cost = (places, wishes, weights) =>
    places.reduce((sum, place, i) => sum + weights[i] * (place - wishes[i]) ** 2, 0);
  for (let round = 0; round < 200; ++round) {
    const wishes = Array.from({ length: 3 }, () => random(12));
    const weights = Array.from({ length: 3 }, () => 1 + random(4));
    const distances = Array.from({ length: 2 }, () => 1 + random(4));
    const places = nearestInOrder(wishes, weights, distances);
    for (let i = 0; i < 2; ++i) assert.ok(places[i + 1] - places[i] >= distances[i] - 1e-9);
    const found = cost(places, wishes, weights);
    for (let a = -8; a <= 20; ++a) {
      for (let b = a + distances[0]; b <= 20; ++b) {
        for (let c = b + distances[1]; c <= 24; ++c) assert.ok(cost([a, b, c], wishes, weights) >= found - 1e-9);
      }
    }
  }
});

test('names are shortened from the class on', () => {
  assert.equal(labels.shortName('org.h2.engine.Session.commit(boolean)', 32), 'Session.commit');
  assert.equal(labels.shortName('a.JdbcPreparedStatement.executeBatchElement(int)', 32), 'JdbcPrepare….executeBatchElement');
  assert.equal(labels.shortName('JavaCalls::call(JavaValue*)', 32), 'JavaCalls::call');
  assert.equal(labels.shortName('jni_invoke(JNIEnv_*, int) [clone .isra.1]', 32), 'jni_invoke');
  assert.equal(labels.shortName('[libc.so.6+0x88ef0]', 32), '[libc.so.6+0x88ef0]');
  for (const name of ['x'.repeat(500), 'a.b.C.d(e)', '(', 'f()', '()', `${'a.'.repeat(40)}b()`, `A.${'m'.repeat(60)}()`]) {
    assert.ok(labels.shortName(name, 24).length <= 24);
  }
});

test('zooming keeps the point under the pointer', () => {
  const camera = { x: 13, y: -40, scale: 0.7 };
  const at = (each, x, y) => [(x - each.x) / each.scale, (y - each.y) / each.scale];
  const before = at(camera, 300, 200);
  at(cameras.zoomed(camera, 1.7, 300, 200), 300, 200).forEach((value, i) => assert.ok(Math.abs(value - before[i]) < 1e-9));
  assert.equal(cameras.zoomed(camera, 1e9, 0, 0).scale, 4);
});

test('settings are read from the URL, invalid ones are ignored', () => {
  const plain = options.settingsOf({}, 10);
  assert.deepEqual(
    [plain.root, plain.filter, plain.widths.curve, plain.widthBy, plain.left, plain.right, plain.nameLength],
    [graphs.kAllThreads, undefined, 'adaptive', 'total', 'none', 'total %', 32],
  );
  const odd = { 'graph.root': '10', 'graph.filter': 'x', 'graph.widths': 'huge', 'graph.open': 'zz.4c.x.5a' };
  const read = options.settingsOf(odd, 10);
  assert.deepEqual([read.root, read.filter, read.widths.curve], [graphs.kAllThreads, undefined, 'adaptive']);
  assert.deepEqual([...read.details], [[4, 'collapsed'], [5, 'all']]);
  assert.equal(options.formatDetails(read.details), '4c.5a');
  assert.equal(options.formatDetails(options.stepped(read.details, 5, -1)), '4c');
  assert.equal(options.settingsOf({ 'graph.filter': '77' }, 10).filter, 20);
});
