// Who calls a routine, and whom it calls, by the rules of FIG. 27: recursive activations are
// separate, so that the other rows of a side add up to the routine itself. If activations of an arc
// are nested, each moment counts once: no arc exceeds its routine.
import type { Measure } from './measure.ts';
import type { Profile } from './model.ts';

export interface Arc {
  readonly other: number; // the caller or callee
  readonly place: number; // in the caller; 0: unknown, or calls of all places
  readonly recursive: boolean; // this activation (callers) or its caller (callees) is recursive
  readonly calls: number;
  readonly self: number;
  readonly total: number; // over the arc's outermost activations
  readonly nodes: readonly number[]; // of the one that is called, in preorder
  // Self time of one call of the one that is called; null: not known.
  readonly min: number | null;
  readonly max: number | null;
}

// Over these nodes.
export function extremesOf(profile: Profile, nodes: readonly number[]): { min: number | null; max: number | null } {
  let min: number | null = null;
  let max: number | null = null;
  for (const node of nodes) {
    const { min: least, max: most } = profile.data.nodes;
    if (least[node] !== null && (min === null || least[node] < min)) min = least[node];
    if (most[node] !== null && (max === null || most[node] > max)) max = most[node];
  }
  return { min, max };
}

export interface Arcs {
  readonly callers: Arc[];
  readonly callees: Arc[];
}

interface Sum {
  other: number;
  place: number;
  recursive: boolean;
  calls: number;
  self: number;
  total: number;
  nodes: number[];
}

const kPlaces = 2 ** 17;

class Side {
  private sums = new Map<number, Sum>();

  constructor(
    private profile: Profile,
    private measure: Measure,
  ) {}

  add(other: number, recursive: boolean, node: number): void {
    const place = this.profile.place[node];
    const key = (other * 2 + (recursive ? 1 : 0)) * kPlaces + place;
    let sum = this.sums.get(key);
    if (sum === undefined) {
      sum = { other, place, recursive, calls: 0, self: 0, total: 0, nodes: [] };
      this.sums.set(key, sum);
    }
    sum.calls += this.profile.data.nodes.calls[node];
    sum.self += this.measure.self[node];
    sum.nodes.push(node);
  }

  // When all are added: callees of nested activations are not in preorder.
  private close(sum: Sum): void {
    sum.nodes.sort((a, b) => a - b);
    let outermostEnd = 0;
    for (const node of sum.nodes) {
      if (node < outermostEnd) continue;
      sum.total += this.measure.total[node];
      outermostEnd = this.profile.end[node];
    }
  }

  sorted(): Arc[] {
    for (const sum of this.sums.values()) this.close(sum);
    return Array.from(this.sums.values(), (sum) => ({ ...sum, ...extremesOf(this.profile, sum.nodes) })).sort(
      (a, b) => b.total - a.total || b.calls - a.calls || a.other - b.other || a.place - b.place,
    );
  }
}

export function arcsOf(profile: Profile, measure: Measure, name: number): Arcs {
  const callers = new Side(profile, measure);
  const callees = new Side(profile, measure);
  let outermostEnd = 0;
  for (const node of profile.instances(name)) {
    const recursive = node < outermostEnd;
    if (!recursive) outermostEnd = profile.end[node];
    if (profile.parent[node] >= 0) {
      callers.add(profile.name[profile.parent[node]], recursive, node);
    }
    for (let child = node + 1; child < profile.end[node]; child = profile.end[child]) {
      callees.add(profile.name[child], recursive, child);
    }
  }
  return { callers: callers.sorted(), callees: callees.sorted() };
}
