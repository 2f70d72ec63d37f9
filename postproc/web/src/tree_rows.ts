// The nodes of the call tree that a table shows: those whose ancestors are all open.
import type { Measure } from './measure.ts';
import type { Profile } from './model.ts';

const kBranch = 0.5; // of a node's total: a path goes on into a child that has as much

// The open nodes: those that are open at first, but for the nodes of which the opposite holds.
export class Openness {
  constructor(
    private profile: Profile,
    private atFirst: ReadonlySet<number>,
    readonly flipped: ReadonlySet<number>,
  ) {}

  // By the nodes' addresses. `atFirst`: firstPath.
  static parse(profile: Profile, atFirst: readonly number[], text: string | undefined): Openness {
    const words = (text ?? '').split('.').filter((word) => word !== '');
    const nodes = words.map((word) => profile.nodeAt(parseInt(word, 36))).filter((node) => node >= 0);
    return new Openness(profile, new Set(atFirst), new Set(nodes));
  }

  format(): string {
    return Array.from(this.flipped, (node) => this.profile.addressOf(node).toString(36)).join('.');
  }

  isOpen(node: number): boolean {
    return this.atFirst.has(node) !== this.flipped.has(node);
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
    return new Openness(this.profile, this.atFirst, flipped);
  }

  // As at first.
  reset(): Openness {
    return new Openness(this.profile, this.atFirst, new Set());
  }
}

function hottestOf(measure: Measure, nodes: readonly number[]): number {
  return nodes.reduce((a, b) => (measure.total[b] > measure.total[a] ? b : a));
}

// The roots of threads that run methods of the program; all if there are none.
function rootsOfProgram({ data, roots, name, thread, nodeCount, routineCount }: Profile): number[] {
  const isProgram = Uint8Array.from(data.kinds, (kind, i) => (/[JCIE]/.test(kind) && data.owners[i] !== 'j' ? 1 : 0));
  const runs = new Uint8Array(roots.length);
  for (let node = 0; node < nodeCount; ++node) {
    if (name[node] < routineCount && isProgram[name[node]] === 1) runs[thread[node]] = 1;
  }
  const own = Array.from(roots).filter((_, i) => runs[i] === 1);
  return own.length > 0 ? own : Array.from(roots);
}

// The program's hottest path, down to where it branches.
export function firstPath(profile: Profile, measure: Measure): number[] {
  const roots = rootsOfProgram(profile);
  if (roots.length === 0) return [];
  const path = [hottestOf(measure, roots)];
  for (;;) {
    const last = path[path.length - 1];
    const children = profile.children(last);
    if (children.length === 0) return path;
    const hottest = hottestOf(measure, children);
    if (measure.total[hottest] < kBranch * measure.total[last] || measure.total[hottest] === 0) return path;
    path.push(hottest);
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
    const hottest = hottestOf(measure, children);
    if (measure.total[hottest] === 0) return path;
    path.push(hottest);
  }
}
