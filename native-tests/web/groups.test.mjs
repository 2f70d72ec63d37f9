// Threads as groups, and folded frames, in the page's model under node: sums are what they were.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './support/modules.mjs';
import { linesOf, profileOf } from './support/profiles.mjs';
import { mixedTrace, randomSitesTrace, threadsTrace } from './support/traces.mjs';

const [{ Unfolded }, folding, { searchFor }, { threadRows, nameOfRow, valueOfRow }, { CallTreeSource }, { sumUp }] =
  await Promise.all(['thread_groups', 'folding', 'search', 'thread_rows', 'flame/source', 'routines'].map(load));

const kThreads = ['main', 'pool-1', 'pool-27', 'pool-', 'C1 CompilerThread0', 'C2 CompilerThread0'];
const known = threadsTrace();
const traces = [known, ...Array.from({ length: 8 }, (_, seed) => randomSitesTrace(seed, kThreads))];
const groupsOf = (profile, text) => Unfolded.parse(profile.groups, text);
const grouped = (profile, text) => profile.withGroups(groupsOf(profile, text));

test('threads whose names differ in numbers only are one group', () => {
  const names = profileOf(known).groups.map(({ name, threads }) => `${name} ${threads.length}`);
  assert.deepEqual(names.sort(), [
    'C1 CompilerThread0 1', 'C2 CompilerThread0 1', 'main 1', 'pool-*-thread-* 3', 'pool-thread 1',
  ]);
});

test('grouped, the tree is that of --aggregate=group', () => {
  for (const trace of traces) {
    for (const mode of ['chain', 'none']) {
      const apart = profileOf(trace, `--merge=${mode}`);
      const profile = grouped(apart);
      assert.deepEqual(linesOf(profile, true), linesOf(profileOf(trace, `--merge=${mode}`, '--aggregate=group'), true));
      assert.notDeepEqual(linesOf(profile, true), linesOf(apart, true));
    }
  }
});

test('grouped and without call sites, it is that of both options', () => {
  for (const trace of traces) {
    const plain = grouped(profileOf(trace).withoutPlaces());
    assert.deepEqual(linesOf(plain, false), linesOf(profileOf(trace, '--aggregate=group', '--sites=off'), false));
  }
});

test('a group has the sum of its threads, and unfolds to them', () => {
  const apart = profileOf(known);
  const pool = apart.groups.find(({ threads }) => threads.length === 3);
  const closed = grouped(apart);
  const root = closed.roots[closed.data.threads.findIndex(({ name }) => name === 'pool-*-thread-*')];
  assert.equal(closed.measure('time').total[root], 700 + 3 * 30);
  assert.equal(closed.measure('ticks').total[root], 9 + 3);
  assert.equal(closed.data.threads.length, 5);
  assert.equal(grouped(apart, `${pool.number}`), apart);
  assert.equal(grouped(apart, 'all'), apart);
  assert.equal(groupsOf(apart).toggled(pool).format(), 'all');
  assert.equal(groupsOf(apart, 'all').toggled(pool).format(), undefined);
  // Words of strangers name no group.
  assert.equal(groupsOf(apart, '9999.x.-1').format(), undefined);
});

test('routines and the whole are the same with and without groups', () => {
  for (const trace of traces) {
    const apart = profileOf(trace);
    const profile = grouped(apart);
    for (const measure of apart.measures) {
      assert.equal(profile.measure(measure.id).whole, measure.whole);
      for (let name = 0; name < apart.routineCount; ++name) {
        assert.deepEqual(sumUp(profile, profile.measure(measure.id), name), sumUp(apart, measure, name));
      }
    }
  }
});

test('a node has the same address in every form of the tree', () => {
  for (const trace of traces) {
    const apart = profileOf(trace);
    const profile = grouped(apart).folded(new Set(['jdk', 'native']));
    for (let node = 0; node < profile.nodeCount; ++node) {
      const address = profile.addressOf(node);
      assert.equal(profile.nodeAt(address), node);
      if (profile.name[node] < profile.routineCount) assert.equal(apart.nameOf(address), profile.nameOf(node));
    }
    for (const wrong of [-1, apart.nodeCount, NaN, 0.5]) assert.equal(profile.nodeAt(wrong), -1);
  }
});

test('rows of threads: groups with the sums of theirs, threads below those that are unfolded', () => {
  const apart = profileOf(known);
  const measure = apart.measure('time');
  const columns = [{ id: 'time', value: (row) => valueOfRow(apart, measure, row) }];
  const rows = (text, query = '') =>
    threadRows(apart, groupsOf(apart, text), searchFor(apart, query), columns, { column: 'time', reversed: false })
      .map((row) => `${nameOfRow(apart, row)} ${valueOfRow(apart, measure, row)}`);
  const others = ['main 80', 'pool-thread 60', 'C1 CompilerThread0 0', 'C2 CompilerThread0 0'];
  const members = ['pool-1-thread-30 430', 'pool-1-thread-2 230', 'pool-1-thread-1 130'];
  assert.deepEqual(rows(undefined), ['pool-*-thread-* 790', ...others]);
  assert.deepEqual(rows('all'), ['pool-*-thread-* 790', ...members, ...others]);
  assert.deepEqual(rows('all', 'thread-2$'), ['pool-*-thread-* 790', 'pool-1-thread-2 230']);
});

// Its children by name, with calls and time.
function childrenOf(profile, node) {
  const { calls } = profile.data.nodes;
  const time = profile.measure('time').self;
  return profile.children(node).map((child) => `${profile.nameOf(child)} ${calls[child]} ${time[child]}`).sort();
}

test('folded frames are one node below the method that calls them, with all their numbers', () => {
  const apart = profileOf(known);
  const run = (profile) => profile.children(profile.roots[0])[0];
  const jdk = apart.folded(new Set(['jdk']));
  assert.deepEqual(childrenOf(jdk, run(jdk)), ['[JDK] 5 15', 'app.Key.hashCode() 6 8', 'read 0 0']);
  const node = jdk.children(run(jdk)).find((child) => jdk.nameOf(child) === '[JDK]');
  assert.deepEqual(childrenOf(jdk, node), ['Runtime::slow() 0 0', 'app.Key.hashCode() 4 7']);
  const all = apart.folded(new Set(['jdk', 'jvm', 'native']));
  assert.deepEqual(childrenOf(all, run(all)), ['[JDK] 5 15', '[native] 0 0', 'app.Key.hashCode() 6 8']);
  const native = all.children(run(all)).find((child) => all.nameOf(child) === '[native]');
  assert.equal(all.measure('ticks').total[native], 1);
  assert.equal(all.end[native], native + 1); // read and sys_read are one
});

test('folding changes no sum', () => {
  for (const trace of [mixedTrace(), ...traces]) {
    const apart = profileOf(trace);
    for (const layers of [['jdk'], ['jvm'], ['native'], ['jdk', 'jvm', 'native']]) {
      const profile = apart.folded(new Set(layers));
      const marks = folding.kLayers.filter(({ id }) => layers.includes(id)).map(({ name }) => name);
      const layerOf = folding.layersOf(apart.data);
      for (const measure of apart.measures) {
        const same = profile.measure(measure.id);
        assert.equal(same.whole, measure.whole);
        // What is not folded keeps its own.
        for (let name = 0; name < apart.routineCount; ++name) {
          const expected = layers.includes(layerOf[name]?.id) ? 0 : sumUp(apart, measure, name).self;
          assert.equal(sumUp(profile, same, name).self, expected, profile.text(name));
        }
        for (const [thread, root] of apart.roots.entries()) {
          assert.equal(same.total[profile.roots[thread]], measure.total[root]);
        }
      }
      for (let node = 0; node < profile.nodeCount; ++node) {
        const parent = profile.parent[node];
        const name = profile.nameOf(node);
        if (parent >= 0 && marks.includes(name)) assert.notEqual(profile.nameOf(parent), name);
      }
    }
  }
});

test('the state of folded layers', () => {
  assert.deepEqual([...folding.parseLayers('native.jdk.x')], ['jdk', 'native']);
  assert.equal(folding.formatLayers(new Set(['native', 'jdk'])), 'jdk.native');
  assert.equal(folding.formatLayers(new Set()), undefined);
});

test('a folded frame of the flame graph is found again by its address', () => {
  const profile = grouped(profileOf(known)).folded(new Set(['jdk', 'jvm', 'native']));
  const tree = new CallTreeSource(profile, profile.measure('ticks'));
  const seen = [0];
  for (let i = 0; i < seen.length; ++i) seen.push(...tree.children(seen[i]));
  assert.ok(seen.some((node) => node > 0 && profile.text(tree.name(node)) === '[JVM]'));
  for (const node of seen) assert.equal(tree.locate(tree.address(node)), node);
});
