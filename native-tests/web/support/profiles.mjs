// Profiles of the page's model, under node.
import { readFileSync } from 'node:fs';
import { load } from './modules.mjs';
import { dataOf, writePage } from './post.mjs';

const [{ Profile }, { placeText }] = await Promise.all(['model', 'sites'].map(load));

export function profileOf(trace, ...args) {
  return new Profile(dataOf(readFileSync(writePage(trace, ...args), 'utf8')));
}

const numbers = ['calls', 'calls_jitted', 'base', 'off', 'base_ticks', 'samples', 'min', 'max'];

// A line for each node: its path, and all its numbers.
export function linesOf(profile, withPlaces) {
  const { nodes } = profile.data;
  const lines = Array.from({ length: profile.nodeCount }, (_, node) => {
    const path = profile.path(node).map((each) => (withPlaces ? placeText(profile.place[each]) : '') + profile.nameOf(each));
    const metrics = nodes.metrics.map((metric) => metric[node]);
    return [path.join(' > '), profile.origin(node), ...numbers.map((column) => nodes[column][node]), ...metrics].join(' ');
  });
  return lines.sort();
}
