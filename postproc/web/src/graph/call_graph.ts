// The call graph from the call tree: a node for each routine, an arc for each pair of caller and
// callee, with sites=on for each place in the caller. As in postproc/graph/call_graph.cc: arcs come from paths, so each has the real cost of
// its calls, and a collapsed routine's cost is added to its real caller. No DOM here.
import type { Measure } from '../measure.ts';
import type { Profile } from '../model.ts';
import { type Costs, costsOf, kAllThreads, walk } from './costs.ts';
import { percentOf } from './time_filter.ts';

export { costsOf, kAllThreads, routineTotals } from './costs.ts';

// The callees of a routine that are shown: none, those that the filter leaves, all.
export type Detail = 'collapsed' | 'filtered' | 'all';
export type Details = ReadonlyMap<number, Detail>; // by name; 'filtered' by default

export interface GraphNode {
  readonly name: number; // as in Profile.name; kAllThreads: the virtual root
  calls: number;
  self: number;
  collapsed: number; // self of the routines collapsed into it
  total: number; // over outermost activations
  sampled: boolean; // only samples saw it
  detail: Detail;
  callees: number; // routines that it calls, shown or not
}

export type Recursion = 'none' | 'self' | 'back' | 'partly';

export interface GraphArc {
  readonly caller: number; // indexes of nodes
  readonly callee: number;
  // In the caller: where it calls the callee, or the collapsed routines that do. 0: unknown.
  readonly place: number;
  calls: number;
  callsCollapsed: number; // of these, by routines collapsed into the caller
  total: number; // over the callee's outermost activations
  total2: number; // over all
  inclusive: number; // below the arc, each moment once
  self: number; // of the callee itself, when called over the arc
  share: number; // T: inclusive of the whole
  selfShare: number; // or self of the whole
  recursion: Recursion;
}

export interface CallGraph {
  readonly nodes: readonly GraphNode[]; // [0]: all threads, or the root that was chosen
  readonly arcs: readonly GraphArc[]; // by inclusive and calls descending, then caller, callee
  readonly whole: number;
  readonly hidden: number; // routines that are not shown
  readonly hiddenSelf: number;
  readonly hiddenCalls: number;
}

export interface GraphOptions {
  readonly root: number; // kAllThreads or a routine
  readonly filter: number; // percent
  readonly details: Details;
  readonly most: number; // nodes: beyond that the coldest are collapsed
}

// Kept as long as the profile.
const kCallees = new WeakMap<Profile, Uint32Array>();

// By name: how many routines it calls.
function calleesOf(profile: Profile): Uint32Array {
  const known = kCallees.get(profile);
  if (known !== undefined) return known;
  const pairs = new Set<number>();
  const count = new Uint32Array(profile.nameCount);
  for (let node = 0; node < profile.nodeCount; ++node) {
    const parent = profile.parent[node];
    if (parent < 0) continue;
    const pair = profile.name[parent] * profile.nameCount + profile.name[node];
    if (pairs.has(pair)) continue;
    pairs.add(pair);
    ++count[profile.name[parent]];
  }
  kCallees.set(profile, count);
  return count;
}

const kPlaces = 2 ** 17;

class Builder {
  readonly nodes: GraphNode[] = [];
  readonly arcs: GraphArc[] = [];
  hidden = 0;
  hiddenSelf = 0;
  hiddenCalls = 0;
  private readonly nodeOf: Int32Array; // by name; -1: hidden
  private readonly owner: Int32Array; // by tree node
  private readonly arcOf: Int32Array; // by tree node; -1: none
  private readonly direct: Uint8Array; // by tree node: 1 if it is shown itself
  private readonly leftFrom: Int32Array; // by tree node, if hidden: where its path leaves the owner
  private readonly arcIndex = new Map<number, number>();
  private readonly open: number[] = []; // by arc: how often it is on the path
  private readonly outermost: boolean[] = []; // by arc: the callee was not active once

  constructor(
    private readonly profile: Profile,
    private readonly measure: Measure,
    private readonly options: GraphOptions,
    private readonly costs: Costs,
  ) {
    this.nodeOf = new Int32Array(profile.nameCount).fill(-1);
    this.owner = new Int32Array(profile.nodeCount).fill(0);
    this.arcOf = new Int32Array(profile.nodeCount).fill(-1);
    this.direct = new Uint8Array(profile.nodeCount);
    this.leftFrom = new Int32Array(profile.nodeCount);
  }

  // Callees of routines that show all they call.
  private asked(): Set<number> {
    const { profile, options } = this;
    const names = new Set<number>();
    if (![...options.details.values()].includes('all')) return names;
    for (let node = 0; node < profile.nodeCount; ++node) {
      const parent = profile.parent[node];
      if (parent < 0) continue;
      const caller = profile.level[parent] === 0 ? kAllThreads : profile.name[parent];
      if (options.details.get(caller) === 'all') names.add(profile.name[node]);
    }
    return names;
  }

  private add(name: number): void {
    if (name !== kAllThreads) this.nodeOf[name] = this.nodes.length;
    this.nodes.push({
      name,
      calls: 0,
      self: 0,
      collapsed: 0,
      total: name === kAllThreads ? this.costs.whole : this.costs.total[name],
      sampled: name !== kAllThreads,
      detail: this.options.details.get(name) ?? 'filtered',
      callees: 0,
    });
  }

  addNodes(): void {
    const { profile, costs, options } = this;
    const asked = this.asked();
    const shown: number[] = [];
    for (let name = 0; name < profile.routineCount; ++name) {
      if (costs.seen[name] === 0 || name === options.root) continue;
      const percent = percentOf(costs.total[name], costs.whole);
      if (options.filter === 0 || percent >= options.filter || asked.has(name)) shown.push(name);
      else ++this.hidden;
    }
    const { calls } = profile.data.flat;
    const text = (name: number) => profile.text(name);
    shown.sort(
      (a, b) =>
        costs.total[b] - costs.total[a] || calls[b] - calls[a] || (text(a) < text(b) ? -1 : 1),
    );
    this.hidden += Math.max(0, shown.length - options.most);
    this.add(options.root);
    for (const name of shown.slice(0, options.most)) this.add(name);
  }

  private findArc(caller: number, callee: number, place: number): number {
    const key = (caller * this.nodes.length + callee) * kPlaces + place;
    let index = this.arcIndex.get(key);
    if (index === undefined) {
      index = this.arcs.length;
      this.arcIndex.set(key, index);
      this.arcs.push({
        caller,
        callee,
        place,
        calls: 0,
        callsCollapsed: 0,
        total: 0,
        total2: 0,
        inclusive: 0,
        self: 0,
        share: 0,
        selfShare: 0,
        recursion: 'none',
      });
      this.open.push(0);
      this.outermost.push(false);
    }
    return index;
  }

  private visit(node: number, outermost: boolean): void {
    const { profile, measure } = this;
    const name = profile.name[node];
    const calls = profile.level[node] === 0 ? 0 : profile.data.nodes.calls[node];
    if (profile.level[node] === 0) {
      this.direct[node] = 1;
      this.nodes[0].self += measure.self[node];
      this.nodes[0].calls += profile.data.nodes.calls[node];
      return;
    }
    const parent = profile.parent[node];
    const begins = name === this.options.root && this.isOutside(parent);
    const caller = begins ? 0 : this.owner[parent];
    const callee = this.nodes[caller].detail === 'collapsed' && !begins ? -1 : this.nodeOf[name];
    const place = this.direct[parent] === 1 ? profile.place[node] : this.leftFrom[parent];
    if (callee < 0) {
      this.owner[node] = caller;
      this.leftFrom[node] = place;
      this.nodes[caller].collapsed += measure.self[node];
      this.hiddenSelf += measure.self[node];
      this.hiddenCalls += calls;
      return;
    }
    this.owner[node] = callee;
    this.direct[node] = 1;
    const shown = this.nodes[callee];
    shown.calls += calls;
    shown.self += measure.self[node];
    if (profile.origin(node) === 'e') shown.sampled = false;
    if (begins) return;
    const index = (this.arcOf[node] = this.findArc(caller, callee, place));
    this.addToArc(index, node, calls, outermost);
  }

  private isOutside(parent: number): boolean {
    for (let node = parent; node >= 0; node = this.profile.parent[node]) {
      if (this.profile.name[node] === this.options.root) return false;
    }
    return true;
  }

  private addToArc(index: number, node: number, calls: number, outermost: boolean): void {
    const direct = this.direct[this.profile.parent[node]] === 1;
    const arc = this.arcs[index];
    const inclusive = this.measure.total[node];
    arc.calls += calls;
    if (!direct) arc.callsCollapsed += calls;
    arc.total2 += inclusive;
    arc.self += this.measure.self[node];
    if (outermost) {
      arc.total += inclusive;
      this.outermost[index] = true;
    } else {
      arc.recursion = 'back';
    }
    if (this.open[index]++ === 0) arc.inclusive += inclusive;
  }

  addArcs(): void {
    walk(
      this.profile,
      this.options.root,
      (node, outermost) => this.visit(node, outermost),
      (node) => {
        if (this.arcOf[node] >= 0) --this.open[this.arcOf[node]];
      },
    );
    this.arcs.forEach((arc, i) => {
      if (arc.caller === arc.callee) arc.recursion = 'self';
      else if (arc.recursion === 'back' && this.outermost[i]) arc.recursion = 'partly';
      const share = (part: number) => Math.min(1, Math.max(0, percentOf(part, this.costs.whole) / 100));
      arc.share = share(arc.inclusive);
      arc.selfShare = share(arc.self);
    });
  }

  countCallees(): void {
    const counts = calleesOf(this.profile);
    for (const node of this.nodes) {
      node.callees = node.name === kAllThreads ? this.profile.roots.length : counts[node.name];
    }
  }
}

// Removes nodes below collapsed ones to which no shown path leads any more.
function reachable(nodes: readonly GraphNode[], arcs: readonly GraphArc[]): [GraphNode[], GraphArc[]] {
  const callees: number[][] = nodes.map(() => []);
  for (const arc of arcs) callees[arc.caller].push(arc.callee);
  const reached = new Set([0]);
  for (const node of reached) for (const callee of callees[node]) reached.add(callee);
  const moved = new Map<number, number>();
  const kept = nodes.filter((_, i) => {
    if (!reached.has(i)) return false;
    moved.set(i, moved.size);
    return true;
  });
  const left = arcs
    .filter((arc) => reached.has(arc.caller))
    .map((arc) => ({ ...arc, caller: moved.get(arc.caller)!, callee: moved.get(arc.callee)! }));
  return [kept, left];
}

export function buildGraph(profile: Profile, measure: Measure, options: GraphOptions): CallGraph {
  const costs = costsOf(profile, measure, options.root);
  const builder = new Builder(profile, measure, options, costs);
  builder.addNodes();
  builder.addArcs();
  builder.countCallees();
  const [nodes, arcs] = reachable(builder.nodes, builder.arcs);
  arcs.sort(
    (a, b) =>
      b.inclusive - a.inclusive ||
      b.calls - a.calls ||
      a.caller - b.caller ||
      a.callee - b.callee ||
      a.place - b.place,
  );
  const hidden = builder.hidden + builder.nodes.length - nodes.length;
  return {
    nodes,
    arcs,
    whole: costs.whole,
    hidden,
    hiddenSelf: builder.hiddenSelf,
    hiddenCalls: builder.hiddenCalls,
  };
}

export interface CallingPath {
  readonly nodes: readonly number[]; // of the tree, from the thread's root down to the callee
  value: number;
  calls: number;
}

// The tree's paths on which `caller` calls `callee`, without collapsed routines, hottest first.
export function pathsOf(
  profile: Profile,
  measure: Measure,
  graph: CallGraph,
  arc: GraphArc,
  most: number,
): CallingPath[] {
  const callee = graph.nodes[arc.callee].name;
  const caller = graph.nodes[arc.caller].name;
  const shown = new Set(graph.nodes.map((node) => node.name));
  const found: CallingPath[] = [];
  for (const node of profile.instances(callee)) {
    const nodes = profile.path(node);
    let at = nodes.length - 2;
    while (at > 0 && !shown.has(profile.name[nodes[at]])) --at;
    if (at < 0 || profile.place[nodes[at + 1]] !== arc.place) continue;
    const nearest = nodes[at];
    const by = profile.isRoot(nearest) ? kAllThreads : profile.name[nearest];
    if (by !== caller) continue;
    found.push({ nodes, value: measure.total[node], calls: profile.data.nodes.calls[node] });
  }
  found.sort((a, b) => b.value - a.value || b.calls - a.calls);
  return found.slice(0, most);
}
