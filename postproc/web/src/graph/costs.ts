// What routines cost in the call tree, or below one of them. No DOM here.
import type { Measure } from '../measure.ts';
import type { Profile } from '../model.ts';

export const kAllThreads = -1;

// Calls visit(node, outermost) for the tree's nodes in preorder: all of them, or those below the
// outermost activations of `root`, these included. `leave` is called when a subtree is done.
export function walk(
  profile: Profile,
  root: number,
  visit: (node: number, outermost: boolean) => void,
  leave: (node: number) => void,
): void {
  const { name, end } = profile;
  const active = new Int32Array(profile.nameCount);
  const open: number[] = [];
  const close = (until: number) => {
    while (open.length > 0 && end[open[open.length - 1]] <= until) {
      const node = open.pop()!;
      --active[name[node]];
      leave(node);
    }
  };
  for (let node = 0; node < profile.nodeCount; ++node) {
    close(node);
    if (open.length === 0 && root !== kAllThreads && name[node] !== root) continue;
    visit(node, active[name[node]]++ === 0);
    open.push(node);
  }
  close(profile.nodeCount);
}

// Costs are kept as long as the profile: a filter that is dragged needs them again and again.
const kCosts = new WeakMap<Measure, Map<number, Costs>>();

export interface Costs {
  readonly whole: number;
  readonly total: Float64Array; // by name
  readonly seen: Uint8Array; // by name: 1 if there is a node of it
}

export function costsOf(profile: Profile, measure: Measure, root: number): Costs {
  let byRoot = kCosts.get(measure);
  if (byRoot === undefined) kCosts.set(measure, (byRoot = new Map()));
  let costs = byRoot.get(root);
  if (costs === undefined) byRoot.set(root, (costs = sumCosts(profile, measure, root)));
  return costs;
}

function sumCosts(profile: Profile, measure: Measure, root: number): Costs {
  const total = new Float64Array(profile.nameCount);
  const seen = new Uint8Array(profile.nameCount);
  walk(
    profile,
    root,
    (node, outermost) => {
      seen[profile.name[node]] = 1;
      if (outermost) total[profile.name[node]] += measure.total[node];
    },
    () => {},
  );
  return { whole: root === kAllThreads ? measure.whole : total[root], total, seen };
}

// The totals of routines, without threads.
export function routineTotals(profile: Profile, costs: Costs): number[] {
  const totals: number[] = [];
  for (let name = 0; name < profile.routineCount; ++name) {
    if (costs.seen[name] === 1) totals.push(costs.total[name]);
  }
  return totals;
}
