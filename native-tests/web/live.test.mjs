// The modules of the live page under node: numbers that stay, one request at a time.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { load } from './support/modules.mjs';
import { dataOf, writePage, writeTrace } from './support/post.mjs';

const { Lineage } = await load('live/lineage');
const { carried } = await load('live/carry');
const { Poller } = await load('live/poller');
const { ageText, recordedSince, statusText } = await load('live/status');
const { Openness, firstPath } = await load('tree_rows');

const data = (...lines) => dataOf(readFileSync(writePage(writeTrace(lines)), 'utf8'));
const node = (thread, base, ...path) => `0\t${thread}\tnode\tcalls=1,base=${base}\t${path.join('\t')}`;
const at = (profile, ...names) =>
  Array.from(profile.level.keys()).find(
    (each) => profile.path(each).map((step) => profile.nameOf(step)).join() === names.join(),
  );

// A recording, and the same later: another thread is hotter, and so are new routines.
const early = data(
  node('main', 5, 'b.B.run()'),
  node('main', 30, 'b.B.run()', 'b.B.step()'),
  node('main', 10, 'b.B.run()', 'c.C.rest()'),
  node('pool', 3, 'b.B.step()'),
);
const later = data(
  node('aaa', 900, 'a.A.first()'),
  node('main', 5, 'b.B.run()'),
  node('main', 31, 'b.B.run()', 'b.B.step()'),
  node('main', 700, 'b.B.run()', 'a.A.first()'),
  node('main', 70, 'b.B.run()', 'c.C.rest()'),
  node('pool', 400, 'b.B.step()'),
  node('pool', 500, 'b.B.step()', 'a.A.last()'),
);

test('nodes keep their addresses, routines and threads their numbers', () => {
  const lineage = new Lineage();
  const [first, second] = [lineage.next(early), lineage.next(later)];
  let kept = 0;
  for (const each of first.level.keys()) {
    const same = second.nodeAt(first.addressOf(each));
    assert.equal(second.path(same).map((step) => second.nameOf(step)).join(), first.path(each).map((step) => first.nameOf(step)).join());
    if (same !== each) ++kept;
  }
  assert.ok(kept > 0, 'the nodes changed their numbers');
  early.routines.forEach((_, name) => assert.equal(second.text(name), first.text(name)));
  first.data.threads.forEach(({ name }, thread) => assert.equal(second.data.threads[thread].name, name));
  const news = at(second, 'pool', 'b.B.step()', 'a.A.last()');
  assert.equal(second.nodeAt(second.addressOf(news)), news);
  assert.equal(first.nodeAt(second.addressOf(news)), -1);
});

test('every number stays that of its name', () => {
  const lineage = new Lineage();
  lineage.next(early);
  const { data: moved } = lineage.next(later);
  later.routines.forEach((name, old) => {
    const number = moved.routines.indexOf(name);
    for (const column of Object.keys(later.flat)) assert.equal(moved.flat[column][number], later.flat[column][old], column);
    assert.equal(moved.kinds[number], later.kinds[old]);
    assert.equal(moved.owners[number], later.owners[old]);
  });
  const nameOf = (each, i) => [...each.routines, ...each.threads.map(({ name }) => name)][each.nodes.name[i]];
  later.nodes.name.forEach((_, i) => assert.equal(nameOf(moved, i), nameOf(later, i)));
  const heavy = (each) => each.headline.heaviest.map(({ routine, callee, callers }) => [routine, callee, ...callers].map((name) => each.routines[name]));
  assert.ok(later.headline.heaviest.length > 0);
  assert.deepEqual(heavy(moved), heavy(later));
});

test('the tree stays open where it was, and opens nothing by itself', () => {
  const lineage = new Lineage();
  const first = lineage.next(early);
  const open = (profile, text) => {
    const measure = profile.measure('time');
    const path = profile.kept('tree', () => firstPath(profile, measure));
    return Openness.parse(profile, path, text);
  };
  const chosen = open(first, undefined).set([at(first, 'pool')], true);
  const text = chosen.format();
  const second = lineage.next(later);
  assert.notDeepEqual(firstPath(second, second.measure('time')).map((each) => second.nameOf(each)), ['main', 'b.B.run()', 'b.B.step()']);
  const names = (profile) =>
    Array.from(profile.level.keys()).filter((each) => open(profile, text).isOpen(each)).map((each) => profile.nameOf(each)).sort();
  assert.deepEqual(names(second), ['b.B.run()', 'b.B.step()', 'main', 'pool']);
  assert.deepEqual(names(second), names(first));
});

test('numbers behind those of routines, and parts of the run, are carried over', () => {
  const lineage = new Lineage();
  const [first, second] = [lineage.next(early), lineage.next(later)];
  const [few, many] = [first.routineCount, second.routineCount];
  assert.ok(many > few);
  const state = { view: 'function', 'function.arc': `c${few}p${few + 3}`, 'flame.of': 'callers', 'flame.at': `1p900-${few + 1}` };
  assert.deepEqual(carried(state, first.data, second.data), {
    ...state, 'function.arc': `c${many}p${few + 3}`, 'flame.at': `1p900-${many + 1}`,
  });
  const timed = (width, start = 0) => ({ ...first.data, times: { cells: 2, count: 100 }, heat: { ...first.data.heat, width, start } });
  assert.deepEqual(carried({ range: '12-41' }, timed(50), timed(100)), { range: '6-21' });
  // The next data begins 400 earlier.
  assert.deepEqual(carried({ range: '12-41' }, timed(50), timed(100, -400)), { range: '8-23' });
});

// The JVM was stopped and records anew, with other options.
const restarted = (data, time) => ({ ...data, traces: [{ ...data.traces[0], facts: [['unix_time_ns', time]] }] });

test('in another recording an address of the last one names no node', () => {
  const lineage = new Lineage();
  const first = lineage.next(restarted(early, '1'));
  const second = lineage.next(restarted(later, '2'));
  for (const each of first.level.keys()) assert.equal(second.nodeAt(first.addressOf(each)), -1);
  for (const each of second.level.keys()) assert.equal(second.nodeAt(second.addressOf(each)), each);
  // Words that mean nothing any more are dropped, a routine that is there again has its new number.
  const step = first.data.routines.indexOf('b.B.step()');
  const state = { view: 'tree', q: 'b', fn: `${step}`, 'graph.root': '900', 'tree.open': 'a.b', 'tree.at': '7', 'flame.at': '3', range: '3-9', 'source.file': '1' };
  assert.deepEqual(carried(state, first.data, second.data), { view: 'tree', q: 'b', fn: `${second.data.routines.indexOf('b.B.step()')}` });
  assert.deepEqual(carried(state, second.data, second.data)['tree.open'], 'a.b');
});

test('addresses are the same in a page that is loaded anew, and there are only those of the snapshot', () => {
  const lineage = new Lineage();
  lineage.next(early);
  const followed = lineage.next(later);
  const fresh = new Lineage().next(later);
  const byPath = (profile) => new Map(Array.from(profile.level.keys(), (each) => [profile.path(each).map((step) => profile.nameOf(step)).join(), profile.addressOf(each)]));
  assert.deepEqual(byPath(followed), byPath(fresh));
  assert.equal(followed.addresses.at.size, followed.nodeCount);
  // Back to less: what is gone has no address and no number.
  const less = lineage.next(early);
  assert.equal(less.addresses.at.size, less.nodeCount);
  assert.equal(lineage.routines.known.size, early.routines.length);
});

test('addresses fit into the URL: integers that numbers hold exactly', () => {
  const profile = new Lineage().next(later);
  for (const each of profile.level.keys()) {
    const address = profile.addressOf(each);
    assert.ok(Number.isSafeInteger(address) && address >= 0);
    assert.equal(parseInt(address.toString(36), 36), address);
  }
});

// Answers with the numbers of `states`; the last one again and again.
function pollerOf(states, overrides = {}) {
  const log = [];
  let clock = 0;
  let open = 0;
  const poller = new Poller({
    async fetch(after) {
      assert.equal(++open, 1, 'one request at a time');
      await null;
      --open;
      const state = states[Math.min(log.filter((line) => line.startsWith('fetch')).length, states.length - 1)];
      log.push(`fetch ${after}`);
      if (state instanceof Error) throw state;
      return { state, serial: after + 1 };
    },
    async show(answer) {
      log.push(`show ${answer.serial}`);
      clock += 100;
    },
    failed: (error) => log.push(`failed ${error.message}`),
    now: () => clock,
    wait: async (ms) => void log.push(`wait ${ms}`),
    ...overrides,
  });
  return { poller, log };
}

test('one request at a time, with rests, until the JVM has ended', async () => {
  const { poller, log } = pollerOf(['live', new Error('gone'), 'live', 'ended']);
  await poller.run();
  assert.deepEqual(log, [
    'fetch 0', 'show 1', 'wait 400',
    'fetch 1', 'failed gone', 'wait 3000',
    'fetch 1', 'show 2', 'wait 400',
    'fetch 2', 'show 3',
  ]);
});

test('a pause lets no request out', async () => {
  const { poller, log } = pollerOf(['live', 'live', 'ended'], {
    wait: async () => {
      if (log.length === 2) poller.setPaused(true);
    },
  });
  const run = poller.run();
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(log, ['fetch 0', 'show 1']);
  poller.setPaused(false);
  await run;
  assert.deepEqual(log.slice(2), ['fetch 1', 'show 2', 'fetch 2', 'show 3']);
});

test('the line says what the numbers are of', () => {
  const answer = { state: 'live', pid: 47, program: 'A', message: '', serial: 1, cost_ms: 1 };
  const of = (change, paused = false, error = '') => {
    const { tone, state, about } = statusText({ answer: { ...answer, ...change }, error, refreshed: 1 }, paused);
    return `${tone}: ${state}; ${about}`;
  };
  assert.equal(of({}), 'good: live; ');
  assert.equal(of({}, true), 'fair: paused; the page keeps the last data');
  assert.equal(of({ state: 'ended' }, true), 'bad: JVM 47 is no longer running; the page keeps the last data');
  assert.equal(of({ state: 'stopped', message: 'no recording runs' }), 'fair: not recording; no recording runs; the page keeps the last data');
  assert.equal(of({}, false, 'no answer'), 'bad: no connection; no answer; the page keeps the last data');
  assert.deepEqual([0, 119_000, 120_000, 8_000_000].map(ageText), ['0 s ago', '119 s ago', '2 min ago', '2 h ago']);
  assert.equal(recordedSince({ traces: [{ facts: [['unix_time_ns', '1500000000000000000']] }] }), 1.5e12);
  assert.equal(recordedSince({ traces: [] }), undefined);
});
