// The page's search under node, without a browser.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { load } from './support/modules.mjs';
import { dataOf, writePage, writeTrace } from './support/post.mjs';
import { mixedTrace } from './support/traces.mjs';

const [model, search, automaton] = await Promise.all(['model', 'search', 'automaton'].map(load));

const profileOf = (trace) => new model.Profile(dataOf(readFileSync(writePage(trace), 'utf8')));
const mixed = profileOf(mixedTrace());

test('a match counts once, with the nodes below it', () => {
  const measure = mixed.measure('ticks');
  const found = search.matchedBy(mixed, measure, search.searchFor(mixed, 'app\\.Work|memcpy'));
  assert.deepEqual(found, { routines: 2, value: 3 + 1 + 2 });
  assert.equal(search.searchFor(mixed, '').active, false);
  const wrong = search.searchFor(mixed, '(');
  assert.equal(wrong.active, false);
  assert.notEqual(wrong.error, '');
});

test('an automaton matches what RegExp matches', () => {
  let state = 1;
  const random = (below) => (state = (state * 48271) % 2147483647) % below;
  const pick = (list) => list[random(list.length)];
  const atoms = ['a', 'B', '.', '[ab]', '[^a]', '[\\]b]', '\\w', '\\.', '\\(', '\\x61', '\\u0062', '^', '$', '\\b', '\\B', '{', ']', '[(]'];
  const quantifiers = ['', '', '', '*', '+', '?', '*?', '+?', '{2}', '{0}', '{1,}', '{0,2}', '{1,3}?'];
  const expression = (depth) =>
    Array.from({ length: random(4) }, () => {
      const group = depth > 0 && random(3) === 0;
      const one = group ? `${pick(['(', '(?:'])}${expression(depth - 1)})` : pick(atoms);
      return /^(\^|\$|\\b)$/i.test(one) ? one : one + pick(quantifiers);
    }).join('') + (random(5) === 0 ? `|${depth > 0 ? expression(depth - 1) : ''}` : '');
  let matched = 0;
  let not = 0;
  for (let i = 0; i < 4000; ++i) {
    const source = expression(2);
    const wanted = new RegExp(source, 'i');
    const made = new automaton.Automaton(source);
    for (let j = 0; j < 5; ++j) {
      const text = Array.from({ length: random(7) }, () => pick('aAb.({]x \n')).join('');
      const is = wanted.test(text);
      assert.equal(made.test(text), is, `/${source}/ in ${JSON.stringify(text)}`);
      is ? ++matched : ++not;
    }
  }
  assert.ok(matched > 1000 && not > 1000);
  for (const source of ['(?=a)', '(?<!a)b', '(a)\\1', '(?<n>a)\\k<n>', '(?i:a)', '(a{1000}){1000}', '(a{99999999})', '(']) {
    assert.throws(() => new automaton.Automaton(source), source);
  }
});

test('no search hangs', () => {
  const long = profileOf(writeTrace([`0\tmain\tnode\tcalls=1\ta.${'a'.repeat(5000)}()`]));
  for (const text of ['(.*a){25}$', '(a+)+$', '(a|a)*b', `${'(a|a)'.repeat(40)}$`, 'a*a*a*a*a*a*b', '(?:a?){40}a{40}b']) {
    const found = search.searchFor(long, text);
    assert.equal(found.error, '', text);
    assert.equal(found.active, true);
    assert.equal(found.matches(0), false, text);
  }
  assert.match(search.searchFor(long, 'a', -1).error, /took too long/);
  const nested = (depth) => `${'('.repeat(depth)}a${')*'.repeat(depth)}`;
  assert.equal(search.searchFor(long, nested(5)).error, '');
  assert.match(search.searchFor(long, nested(100)).error, /too complex/);
  assert.match(search.searchFor(long, 'a'.repeat(1001)).error, /too long/);
});
