// A part of the run, in the page's model under node.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './support/modules.mjs';
import { profileOf } from './support/profiles.mjs';
import { eventsOnlyTrace, mixedTrace, randomSitesTrace, threadsTrace, timesTrace } from './support/traces.mjs';

const [ranges, { Unfolded }, { routinesBy }] = await Promise.all(['time_range', 'thread_groups', 'routines'].map(load));
const sum = (values) => values.reduce((all, value) => all + value, 0);
const known = profileOf(timesTrace());

test('ranges in the URL', () => {
  const { count } = known.data.times;
  assert.deepEqual(ranges.parseRange(known.data, '3-9'), { from: 3, to: 9 });
  assert.deepEqual(ranges.parseRange(known.data, '3-99999'), { from: 3, to: count });
  for (const wrong of [undefined, '', 'x', '9-3', '3-3', `0-${count}`, '0-99999', '-1-5', '1-2-3']) {
    assert.equal(ranges.parseRange(known.data, wrong), undefined, wrong);
  }
  assert.equal(ranges.formatRange(known.data.times, { from: 3, to: 9 }), '3-9');
  assert.equal(ranges.formatRange(known.data.times, { from: 0, to: count }), undefined);
  // Buckets of 8 ns.
  const data = { ...known.data, heat: { ...known.data.heat, width: 4 }, times: { ...known.data.times, cells: 2, count: 100 } };
  assert.deepEqual(ranges.rangeOf(data, 41, 15), { from: 1, to: 6 });
  assert.deepEqual(ranges.rangeOf(data, -5, 9000), { from: 0, to: 100 });
  assert.deepEqual(ranges.rangeOf(data, 800, 800), { from: 99, to: 100 });
});

test('a part of the run has the samples of its time, in every form of the tree', () => {
  const bucket = Math.floor(500 / ranges.bucketWidth(known.data));
  const { count } = known.data.times;
  const first = known.inRange({ from: 0, to: bucket });
  const second = known.inRange({ from: bucket, to: count });
  const selfOf = (profile) =>
    routinesBy(profile, profile.measures[0])
      .filter(({ self }) => self > 0)
      .map(({ name, self, total }) => `${profile.text(name)} ${self} ${total}`)
      .sort();
  assert.deepEqual(selfOf(first), ['app.A.first() 15 15', 'read 3 3']);
  assert.deepEqual(selfOf(second), ['app.A.second() 40 40', 'read 2 2']);
  assert.equal(first.measures.length, 1);
  assert.equal(first.measures[0].whole + second.measures[0].whole, known.measure('ticks').whole);
  const grouped = second.withGroups(Unfolded.parse(second.groups, undefined));
  assert.deepEqual(grouped.data.threads.map(({ name }) => name), ['main', 'pool-*']);
  assert.deepEqual(selfOf(grouped), selfOf(second));
  assert.equal(known.inRange(undefined), known);
  assert.equal(ranges.rangeText(known.data, { from: 0, to: count }), `0 to ${known.data.timeline.gc.length * known.data.timeline.width} ns`);
});

test('the parts of a run add up to it, node by node', () => {
  const traces = [mixedTrace(), threadsTrace(), ...Array.from({ length: 6 }, (_, seed) => randomSitesTrace(seed))];
  const forms = traces.flatMap((trace) => [[trace], [trace, '--sites=off']]);
  for (const form of [...forms, [mixedTrace(), '--root=app.Work.step'], [mixedTrace(), '--outside=caller']]) {
    const { heat, times, nodes } = profileOf(...form).data;
    const sums = nodes.level.map(() => 0);
    for (let from = 0; from < times.count; ++from) {
      ranges.ticksIn(times, sums.length, { from, to: from + 1 }).forEach((ticks, node) => (sums[node] += ticks));
    }
    assert.deepEqual(sums, nodes.base_ticks);
    assert.equal(sum(heat.ticks), sum(sums));
  }
});

test('a trace without samples has no times', () => {
  const { data } = profileOf(eventsOnlyTrace());
  assert.equal(data.times, undefined);
  assert.equal(data.heat, undefined);
  assert.equal(ranges.parseRange(data, '0-1'), undefined);
});
