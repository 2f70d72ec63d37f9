// The page as a file: what it may load, its size, its content.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { csv, dataOf, sourceFolder, writePage } from './support/post.mjs';
import { bigTrace, hostileNames, hostileTrace, mixedTrace } from './support/traces.mjs';

const template = readFileSync(join(sourceFolder, 'postproc/web/dist/page.html'), 'utf8');

test('the template is small', () => {
  assert.ok(Buffer.byteLength(template) < 400_000);
});

test('the template refers to nothing outside itself', () => {
  const shell = template.replace(/<!--[\s\S]*?-->/, '').replace(/<script>[\s\S]*<\/script>/, '');
  assert.doesNotMatch(shell, /https?:|src=|@import|url\(/i);
});

test('its policy allows only its own script and style', () => {
  const [, policy] = template.match(/Content-Security-Policy" content="([^"]*)"/);
  const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const [, style] = template.match(/<style>([\s\S]*?)<\/style>/);
  const [, script] = template.match(/<script>([\s\S]*?)<\/script>/);
  assert.deepEqual(policy.split('; '), [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ]);
});

test('it contains the licences of its libraries', () => {
  assert.match(template, /Preact[\s\S]*MIT License[\s\S]*Permission is hereby granted/);
});

test('the lock file names no registry', () => {
  const lock = readFileSync(join(sourceFolder, 'postproc/web/package-lock.json'), 'utf8');
  assert.doesNotMatch(lock, /"resolved"/);
});

test('a page is the template with its data', () => {
  const page = readFileSync(writePage(mixedTrace()), 'utf8');
  const [before, after] = template.split('{{DATA}}');
  assert.ok(page.startsWith(before));
  assert.ok(page.endsWith(after));
  const data = dataOf(page);
  assert.equal(data.nodes.level.length, data.totals.nodes);
  assert.equal(data.nodes.origin.length, data.totals.nodes);
  assert.equal(data.kinds.length, data.routines.length);
});

test('names reach the page as they are', () => {
  const { routines } = dataOf(readFileSync(writePage(hostileTrace()), 'utf8'));
  for (const name of hostileNames) assert.ok(routines.includes(name), name.slice(0, 60));
});

test('a large tree is cut by heat, and every total holds', () => {
  const trace = bigTrace(230_000);
  const data = dataOf(readFileSync(writePage(trace), 'utf8'));
  const { nodes, pruned, flat, routines } = data;
  const kept = nodes.level.length;
  assert.ok(kept <= 200_000, `${kept} nodes`);
  assert.equal(data.totals.nodes, 230_001);
  const summaries = nodes.name.filter((name) => name === -1).length;
  assert.equal(kept - summaries + pruned.nodes, data.totals.nodes);
  const sum = (values) => values.reduce((all, value) => all + value, 0);
  const whole = csv('tree', trace).filter(({ level }) => level > 0);
  assert.equal(sum(nodes.base), sum(whole.map(({ base }) => base)));
  // A root counts as one call.
  assert.equal(sum(nodes.calls) - 1, sum(whole.map(({ calls }) => calls)));
  // No node that stayed is colder than a removed one.
  const total = nodes.base.slice();
  for (let i = kept - 1; i > 0; --i) {
    let parent = i - 1;
    while (nodes.level[parent] >= nodes.level[i]) --parent;
    total[parent] += total[i];
  }
  nodes.name.forEach((name, i) => {
    if (name >= 0) assert.ok(total[i] >= pruned.most, `node ${i}`);
  });
  // The list of routines is still exact.
  const byName = new Map(csv('flat', trace).map((row) => [row.name, row]));
  routines.forEach((name, i) => {
    assert.equal(flat.base[i], byName.get(name).base);
    assert.equal(flat.calls[i], byName.get(name).calls);
  });
});
