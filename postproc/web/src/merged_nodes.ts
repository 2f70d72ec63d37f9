// A call tree some of whose nodes are one: calls of all lines together, threads of a group, frames
// that are folded. Sums are exact, because each node's own numbers go to one other. No DOM here.
import type { NodeColumns } from './data.ts';

// What becomes of a node. Nodes with the same name, place and `apart` below the same node are one.
export interface Fate {
  readonly name: number; // as in NodeColumns
  readonly place: number;
  readonly apart: boolean;
  readonly into: boolean; // its caller's node is also its own
}

export interface Merged {
  readonly nodes: NodeColumns;
  readonly of: Int32Array; // by old node: its new one
  readonly first: Int32Array; // by new node: the first old one
}

const kMarks = 8; // names below 0
const kPlaces = 2 ** 17;

// Numbers for fates that differ. Large trees mostly have neither places nor nodes apart: then the
// name is the number, which saves a map.
class Kinds {
  readonly most: number;
  private readonly known = new Map<number, number>();
  private readonly isPlain: boolean;

  constructor({ name, place, apart }: NodeColumns) {
    this.isPlain = place === undefined && apart === undefined;
    const last = name.reduce((most, each) => Math.max(most, each), 0);
    this.most = this.isPlain ? last + kMarks + 1 : name.length + 1;
  }

  of({ name, place, apart }: Fate): number {
    if (this.isPlain) return name + kMarks;
    const word = ((name + kMarks) * kPlaces + place) * 2 + (apart ? 1 : 0);
    const known = this.known.get(word);
    if (known !== undefined) return known;
    this.known.set(word, this.known.size);
    return this.known.size - 1;
  }
}

// The new nodes in the order in which old ones are met, before they are put in preorder.
class Joined {
  readonly of: Int32Array;
  readonly first: number[] = [];
  readonly name: number[] = [];
  readonly level: number[] = [];
  private readonly parent: number[] = [];

  constructor(nodes: NodeColumns, fateOf: (old: number, parent: number) => Fate) {
    const count = nodes.level.length;
    this.of = new Int32Array(count);
    const kinds = new Kinds(nodes);
    const known = new Map<number, number>(); // by parent and kind
    const path: number[] = []; // the last old node of each level
    for (let old = 0; old < count; ++old) {
      const level = nodes.level[old];
      const parent = level === 0 ? -1 : path[level - 1];
      path[level] = old;
      const above = parent < 0 ? -1 : this.of[parent];
      const fate = fateOf(old, parent);
      if (fate.into) {
        this.of[old] = above;
        continue;
      }
      const key = (above + 1) * kinds.most + kinds.of(fate);
      let node = known.get(key);
      if (node === undefined) {
        node = this.first.length;
        known.set(key, node);
        this.first.push(old);
        this.name.push(fate.name);
        this.parent.push(above);
        this.level.push(above < 0 ? 0 : this.level[above] + 1);
      }
      this.of[old] = node;
    }
  }

  preorder(): Int32Array {
    const count = this.first.length;
    const child = new Int32Array(count).fill(-1); // the first one
    const next = new Int32Array(count).fill(-1);
    let root = -1;
    for (let node = count - 1; node >= 0; --node) {
      const parent = this.parent[node];
      next[node] = parent < 0 ? root : child[parent];
      if (parent < 0) root = node;
      else child[parent] = node;
    }
    const order = new Int32Array(count);
    const pending = root < 0 ? [] : [root];
    for (let at = 0; pending.length > 0; ++at) {
      const node = pending.pop()!;
      order[at] = node;
      if (next[node] >= 0) pending.push(next[node]);
      if (child[node] >= 0) pending.push(child[node]);
    }
    return order;
  }
}

class Columns {
  constructor(
    private readonly of: Int32Array,
    private readonly count: number,
  ) {}

  sum(column: readonly number[]): number[] {
    const sums = new Array<number>(this.count).fill(0);
    column.forEach((value, old) => (sums[this.of[old]] += value));
    return sums;
  }

  extreme(column: readonly (number | null)[], choose: (a: number, b: number) => number) {
    const chosen = new Array<number | null>(this.count).fill(null);
    column.forEach((value, old) => {
      const known = chosen[this.of[old]];
      if (value !== null) chosen[this.of[old]] = known === null ? value : choose(known, value);
    });
    return chosen;
  }

  // A node that any event entered is one of events.
  origin(origin: string, first: Int32Array): string {
    const letters = Array.from(first, (old) => origin[old]);
    for (let old = 0; old < this.of.length; ++old) {
      if (origin[old] === 'e') letters[this.of[old]] = 'e';
    }
    return letters.join('');
  }
}

// Samples that count at several places of a node: with their places they stay, else they go.
function samplesOf(nodes: NodeColumns, columns: Columns, of: Int32Array, keepsPlaces: boolean) {
  const samples = columns.sum(nodes.samples);
  const repeated = nodes.repeated_samples;
  if (repeated === undefined) return { samples };
  if (keepsPlaces) {
    return { samples, repeated_samples: repeated.map((word, i) => (i % 2 === 0 ? of[word] : word)) };
  }
  for (let i = 0; i < repeated.length; i += 2) samples[of[repeated[i]]] -= repeated[i + 1];
  return { samples };
}

export function mergeNodes(
  nodes: NodeColumns,
  keepsPlaces: boolean,
  fateOf: (old: number, parent: number) => Fate,
): Merged {
  const joined = new Joined(nodes, fateOf);
  const order = joined.preorder();
  const rank = new Int32Array(order.length);
  order.forEach((node, at) => (rank[node] = at));
  const of = joined.of.map((node) => rank[node]);
  const first = order.map((node) => joined.first[node]);
  const columns = new Columns(of, order.length);
  const apart = (nodes.apart ?? []).map((old) => of[old]);
  const merged: NodeColumns = {
    level: Array.from(order, (node) => joined.level[node]),
    name: Array.from(order, (node) => joined.name[node]),
    origin: columns.origin(nodes.origin, first),
    calls: columns.sum(nodes.calls),
    calls_jitted: columns.sum(nodes.calls_jitted),
    base: columns.sum(nodes.base),
    off: columns.sum(nodes.off),
    min: columns.extreme(nodes.min, Math.min),
    max: columns.extreme(nodes.max, Math.max),
    base_ticks: columns.sum(nodes.base_ticks),
    metrics: nodes.metrics.map((metric) => columns.sum(metric)),
    ...samplesOf(nodes, columns, of, keepsPlaces),
    ...(nodes.place !== undefined && keepsPlaces && { place: Array.from(first, (old) => nodes.place![old]) }),
    ...(apart.length > 0 && { apart: Array.from(new Set(apart)) }),
  };
  return { nodes: merged, of, first };
}

// The fate of a node that stays as it is.
export function unchanged(nodes: NodeColumns): (old: number) => Fate {
  const apart = new Set(nodes.apart);
  return (old) => ({
    name: nodes.name[old],
    place: nodes.place?.[old] ?? 0,
    apart: apart.has(old),
    into: false,
  });
}
