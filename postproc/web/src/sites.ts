// The places from which methods call (sites=on), and a profile without them. No DOM here.
import type { NodeColumns, PageData } from './data.ts';
import type { Patch } from './state.ts';

// Of a place as data.ts has it: ":120" for a line, "@17" for a bytecode index, "" if it is unknown.
export function placeText(place: number): string {
  if (place === 0) return '';
  return `${place % 2 === 0 ? ':' : '@'}${place >> 1}`;
}

// State that names nodes or arcs, which have other numbers with and without places.
export const kForgetNodes: Patch = {
  'flame.at': undefined, 'tree.at': undefined, 'tree.open': undefined, 'function.arc': undefined,
  'graph.at': undefined,
};

// Nodes of the tree without places: each stands for the old ones of its path.
class Merged {
  readonly of: Int32Array; // by old node: its new one
  readonly first: number[] = []; // by new node: the first old one
  readonly children: number[][] = [];

  constructor(nodes: NodeColumns) {
    this.of = new Int32Array(nodes.level.length);
    const known: Map<number, number>[] = []; // by new node: its children by name
    const path: number[] = []; // the last new node of each level
    nodes.level.forEach((level, old) => {
      const parent = level === 0 ? -1 : path[level - 1];
      const name = nodes.name[old];
      // Threads call from no place. Below them a name may occur twice: chains that are apart.
      let node = level > 1 ? known[parent].get(name) : undefined;
      if (node === undefined) {
        node = this.first.length;
        this.first.push(old);
        this.children.push([]);
        known.push(new Map());
        if (parent >= 0) {
          this.children[parent].push(node);
          known[parent].set(name, node);
        }
      }
      this.of[old] = node;
      path.length = level;
      path.push(node);
    });
  }

  // New nodes in preorder.
  preorder(level: readonly number[]): number[] {
    const order: number[] = [];
    const pending = this.first.flatMap((old, node) => (level[old] === 0 ? [node] : [])).reverse();
    while (pending.length > 0) {
      const node = pending.pop()!;
      order.push(node);
      const children = this.children[node];
      for (let i = children.length - 1; i >= 0; --i) pending.push(children[i]);
    }
    return order;
  }
}

function withoutPlacesOf(nodes: NodeColumns): NodeColumns {
  const merged = new Merged(nodes);
  const order = merged.preorder(nodes.level);
  const rank = new Int32Array(order.length); // in the order, by new node
  order.forEach((node, at) => (rank[node] = at));
  const sum = (column: readonly number[]) => {
    const sums = new Array<number>(order.length).fill(0);
    column.forEach((value, old) => (sums[rank[merged.of[old]]] += value));
    return sums;
  };
  const extreme = (column: readonly (number | null)[], choose: (a: number, b: number) => number) => {
    const chosen = new Array<number | null>(order.length).fill(null);
    column.forEach((value, old) => {
      const at = rank[merged.of[old]];
      const known = chosen[at];
      if (value !== null) chosen[at] = known === null ? value : choose(known, value);
    });
    return chosen;
  };
  const first = <T>(column: ArrayLike<T>) => order.map((node) => column[merged.first[node]]);
  const origin = first<string>(nodes.origin);
  for (let old = 0; old < nodes.level.length; ++old) {
    if (nodes.origin[old] === 'e') origin[rank[merged.of[old]]] = 'e';
  }
  const samples = sum(nodes.samples);
  const repeated = nodes.repeated_samples ?? [];
  for (let i = 0; i < repeated.length; i += 2) samples[rank[merged.of[repeated[i]]]] -= repeated[i + 1];
  return {
    level: first(nodes.level),
    name: first(nodes.name),
    origin: origin.join(''),
    calls: sum(nodes.calls),
    calls_jitted: sum(nodes.calls_jitted),
    base: sum(nodes.base),
    off: sum(nodes.off),
    min: extreme(nodes.min, Math.min),
    max: extreme(nodes.max, Math.max),
    base_ticks: sum(nodes.base_ticks),
    samples,
    metrics: nodes.metrics.map(sum),
  };
}

// The calls of all places together, as jtrace-post shows them with --sites=off.
export function withoutPlaces(data: PageData): PageData {
  return data.nodes.place === undefined ? data : { ...data, nodes: withoutPlacesOf(data.nodes) };
}
