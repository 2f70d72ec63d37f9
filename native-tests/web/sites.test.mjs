// Calls by the line that makes them (sites=on), in the page's model under node: with and without.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './support/modules.mjs';
import { csv } from './support/post.mjs';
import { linesOf, profileOf } from './support/profiles.mjs';
import { mixedTrace, randomSitesTrace, sitesTrace } from './support/traces.mjs';

const [arcs, sites, { CallTreeSource, CallersSource }, { nodeFacts }] = await Promise.all(
  ['arcs', 'sites', 'flame/source', 'facts'].map(load),
);

const known = sitesTrace();
const traces = [known, ...Array.from({ length: 12 }, (_, seed) => randomSitesTrace(seed))];

test('places are in the data only if they were recorded', () => {
  assert.equal(profileOf(mixedTrace()).hasPlaces, false);
  assert.equal(profileOf(known).hasPlaces, true);
  assert.equal(profileOf(known, '--sites=off').hasPlaces, false);
  const mixed = profileOf(mixedTrace());
  assert.equal(mixed.withoutPlaces(), mixed);
});

test('places in words', () => {
  assert.equal(sites.placeText(0), '');
  assert.equal(sites.placeText(240), ':120');
  assert.equal(sites.placeText(35), '@17');
  const profile = profileOf(known);
  const lines = Array.from({ length: profile.nodeCount }, (_, node) => profile.siteOf(node)).filter((site) => site !== '');
  assert.deepEqual(lines.sort(), [
    'app.Main.run(int):12', 'app.Main.run(int):12', 'app.Main.run(int):15', 'app.Main.run(int):20',
    'app.Main.run(int):41', 'app.Main.run(int):42', 'app.Main.run(int):43', 'app.Main.run(int)@17', 'app.Work.step(long):33',
  ]);
});

test('nodes are those of --report=tree, each with its line', () => {
  for (const trace of traces) {
    const profile = profileOf(trace);
    const rows = csv('tree', trace).map(({ level, name, site, calls, base }) => `${level} ${name} ${site} ${calls} ${base}`);
    const nodes = Array.from({ length: profile.nodeCount }, (_, node) => {
      const site = profile.siteOf(node);
      const name = site === '' ? profile.nameOf(node) : `${site} > ${profile.nameOf(node)}`;
      return `${profile.level[node]} ${name} ${site} ${profile.data.nodes.calls[node]} ${profile.data.nodes.base[node]}`;
    });
    assert.deepEqual(nodes.sort(), rows.sort());
  }
});

test('switched off, the tree is that of --sites=off', () => {
  for (const trace of traces) {
    const profile = profileOf(trace);
    const plain = profile.withoutPlaces();
    assert.equal(plain.hasPlaces, false);
    assert.equal(plain, profile.withoutPlaces());
    assert.deepEqual(linesOf(plain, false), linesOf(profileOf(trace, '--sites=off'), false));
    assert.notDeepEqual(linesOf(plain, false), linesOf(profile, false));
    for (const measure of profile.measures) assert.equal(plain.measure(measure.id).whole, measure.whole);
  }
});

// Chains that are apart have the name of a merged one beside them.
test('switched off, chains stay apart', () => {
  for (const trace of traces) {
    const plain = profileOf(trace, '--merge=none').withoutPlaces();
    assert.deepEqual(linesOf(plain, false), linesOf(profileOf(trace, '--merge=none', '--sites=off'), false));
  }
});

test('arcs of all lines are the arc', () => {
  for (const trace of traces) {
    const profile = profileOf(trace);
    const sums = (of) => {
      const found = {};
      for (let name = 0; name < of.routineCount; ++name) {
        const { callers, callees } = arcs.arcsOf(of, of.measure('calls'), name);
        for (const [side, list] of [['c', callers], ['e', callees]]) {
          for (const arc of list) {
            const key = `${side} ${of.text(name)} ${of.text(arc.other)} ${arc.recursive}`;
            found[key] = (found[key] ?? 0) + arc.calls;
          }
        }
      }
      return found;
    };
    assert.deepEqual(sums(profile), sums(profile.withoutPlaces()));
  }
});

test('the flame graph has the line before the name, its callers after it', () => {
  const profile = profileOf(known);
  const measure = profile.measure('calls');
  const tree = new CallTreeSource(profile, measure);
  const run = tree.children(tree.children(0)[0])[0];
  const shown = tree.children(run).map((node) => `${tree.before(node)}${profile.text(tree.name(node))} ${tree.value(node)}`);
  assert.deepEqual(shown.sort(), [
    ':12 app.Work.step(long) 3', ':15 app.Work.step(long) 14', ':20 app.Main.run(int) 6', ':41 app.Util.hash(long) 8',
    ':42 app.Util.hash(long) 8', ':43 app.Util.hash(long) 8', '@17 app.Work.step(long) 7',
  ]);
  const hottest = tree.profileNode(tree.children(run)[0]);
  assert.deepEqual(nodeFacts(profile, hottest)[0], ['called from', 'app.Main.run(int):15']);
  const callers = new CallersSource(profile, measure);
  const step = callers.children(0).find((node) => profile.text(callers.name(node)) === 'app.Work.step(long)');
  const from = callers.children(step).map((node) => `${profile.text(callers.name(node))}${callers.after(node)} ${callers.value(node)}`);
  assert.deepEqual(from.sort(), ['app.Main.run(int):12 7', 'app.Main.run(int):15 5', 'app.Main.run(int)@17 7']);
  assert.equal(callers.after(step), '');
});
