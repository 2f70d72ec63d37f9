// The nodes of the call tree that a table shows: those whose ancestors are all open.
import type { Measure } from './measure.ts';
import type { Profile } from './model.ts';

const kOpenShare = 0.2; // hotter nodes are open from the start

// The open nodes: a rule, and the nodes for which the opposite holds.
export class Openness {
  constructor(
    private profile: Profile,
    private measure: Measure,
    readonly flipped: ReadonlySet<number>,
  ) {}

  static parse(profile: Profile, measure: Measure, text: string | undefined): Openness {
    const nodes = (text ?? '').split('.').filter((word) => word !== '');
    return new Openness(profile, measure, new Set(nodes.map((word) => parseInt(word, 36))));
  }

  format(): string {
    return Array.from(this.flipped, (node) => node.toString(36)).join('.');
  }

  isOpen(node: number): boolean {
    const hot = this.measure.total[node] >= kOpenShare * this.measure.whole;
    return hot !== this.flipped.has(node);
  }

  hasChildren(node: number): boolean {
    return this.profile.end[node] > node + 1;
  }

  set(nodes: Iterable<number>, open: boolean): Openness {
    const flipped = new Set(this.flipped);
    for (const node of nodes) {
      if (this.isOpen(node) === open) continue;
      if (!flipped.delete(node)) flipped.add(node);
    }
    return new Openness(this.profile, this.measure, flipped);
  }
}

// In the order of the table; siblings by `compare`.
export function visibleNodes(
  profile: Profile,
  openness: Openness,
  compare: (a: number, b: number) => number,
): number[] {
  const rows: number[] = [];
  const pending = Array.from(profile.roots).sort(compare).reverse();
  while (pending.length > 0) {
    const node = pending.pop()!;
    rows.push(node);
    if (!openness.isOpen(node)) continue;
    const children = profile.children(node).sort(compare);
    for (let i = children.length - 1; i >= 0; --i) pending.push(children[i]);
  }
  return rows;
}

// The hottest way down from a node.
export function hotPath(profile: Profile, measure: Measure, from: number): number[] {
  const path = [from];
  for (;;) {
    const children = profile.children(path[path.length - 1]);
    if (children.length === 0) return path;
    const hottest = children.reduce((a, b) => (measure.total[b] > measure.total[a] ? b : a));
    if (measure.total[hottest] === 0) return path;
    path.push(hottest);
  }
}
