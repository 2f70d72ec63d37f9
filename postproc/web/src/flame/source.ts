// The tree of frames with values that a flame graph draws. Node numbers are the source's own; 0 is
// its root, all threads.
import type { Measure } from '../measure.ts';
import type { Profile } from '../model.ts';

export interface FlameSource {
  readonly rootLabel: string;
  value(node: number): number;
  // By value, greatest first; those without a value are left out.
  children(node: number): readonly number[];
  parent(node: number): number; // -1 for the root
  name(node: number): number; // -1 for the root
  sampled(node: number): boolean; // no event entered it
  // Of the profile; if there are several, the hottest one. -1 for the root.
  profileNode(node: number): number;
  // Nodes in it and below, as far as known.
  size(node: number): number;
  // A node as named in the URL, and back; the root if there is no such node.
  address(node: number): string;
  locate(address: string): number;
}

// The call tree itself; number n + 1 is the profile's node n.
export class CallTreeSource implements FlameSource {
  readonly rootLabel = 'all threads';
  private sorted = new Map<number, readonly number[]>();

  constructor(
    private profile: Profile,
    private measure: Measure,
  ) {}

  value(node: number): number {
    return node === 0 ? this.measure.whole : this.measure.total[node - 1];
  }

  children(node: number): readonly number[] {
    let children = this.sorted.get(node);
    if (children === undefined) {
      const raw = node === 0 ? Array.from(this.profile.roots) : this.profile.children(node - 1);
      children = raw
        .map((child) => child + 1)
        .filter((child) => this.value(child) > 0)
        .sort((a, b) => this.value(b) - this.value(a) || a - b);
      this.sorted.set(node, children);
    }
    return children;
  }

  parent(node: number): number {
    return node === 0 ? -1 : this.profile.parent[node - 1] + 1;
  }

  name(node: number): number {
    return node === 0 ? -1 : this.profile.name[node - 1];
  }

  sampled(node: number): boolean {
    return node > 0 && this.profile.origin(node - 1) === 's';
  }

  profileNode(node: number): number {
    return node - 1;
  }

  size(node: number): number {
    return node === 0 ? this.profile.nodeCount : this.profile.end[node - 1] - (node - 1);
  }

  address(node: number): string {
    return node === 0 ? '' : String(node - 1);
  }

  locate(address: string): number {
    const node = /^\d+$/.test(address) ? Number(address) + 1 : 0;
    return node <= this.profile.nodeCount ? node : 0;
  }
}

interface CallersNode {
  readonly name: number;
  readonly parent: number;
  readonly value: number;
  // The origin of the value: the profile's nodes at this place of the chains, with the value that
  // was spent at the chains' beginning.
  readonly at: number[];
  readonly values: number[];
  readonly sampled: boolean;
  children: number[] | undefined;
}

// The reverse tree: below each routine, by its self value, its callers. Made on demand.
export class CallersSource implements FlameSource {
  readonly rootLabel = 'all, by where it was spent';
  private nodes: CallersNode[] = [];

  constructor(
    private profile: Profile,
    measure: Measure,
  ) {
    const at: number[] = [];
    const values: number[] = [];
    for (let node = 0; node < profile.nodeCount; ++node) {
      if (measure.self[node] <= 0) continue;
      at.push(node);
      values.push(measure.self[node]);
    }
    this.add(-1, -1, at, values, false);
    this.nodes[0].children = this.group(0, at, values);
  }

  private add(name: number, parent: number, at: number[], values: number[], sampled: boolean) {
    const value = values.reduce((sum, each) => sum + each, 0);
    this.nodes.push({ name, parent, value, at, values, sampled, children: undefined });
    return this.nodes.length - 1;
  }

  private group(parent: number, at: readonly number[], values: readonly number[]): number[] {
    const groups = new Map<number, { at: number[]; values: number[]; events: boolean }>();
    at.forEach((node, i) => {
      const name = this.profile.name[node];
      let group = groups.get(name);
      if (group === undefined) groups.set(name, (group = { at: [], values: [], events: false }));
      group.at.push(node);
      group.values.push(values[i]);
      group.events ||= this.profile.origin(node) !== 's';
    });
    const children = Array.from(groups, ([name, group]) =>
      this.add(name, parent, group.at, group.values, !group.events),
    );
    return children.sort((a, b) => this.nodes[b].value - this.nodes[a].value || a - b);
  }

  value(node: number): number {
    return this.nodes[node].value;
  }

  children(node: number): readonly number[] {
    const here = this.nodes[node];
    if (here.children === undefined) {
      const at: number[] = [];
      const values: number[] = [];
      here.at.forEach((below, i) => {
        const caller = this.profile.parent[below];
        if (caller < 0) return;
        at.push(caller);
        values.push(here.values[i]);
      });
      here.children = this.group(node, at, values);
    }
    return here.children;
  }

  parent(node: number): number {
    return this.nodes[node].parent;
  }

  name(node: number): number {
    return this.nodes[node].name;
  }

  sampled(node: number): boolean {
    return this.nodes[node].sampled;
  }

  profileNode(node: number): number {
    const { at, values } = this.nodes[node];
    let hottest = -1;
    values.forEach((value, i) => {
      if (hottest < 0 || value > values[hottest]) hottest = i;
    });
    return node === 0 || hottest < 0 ? -1 : at[hottest];
  }

  size(): number {
    return 1;
  }

  // The names on the path: numbers depend on what was viewed before.
  address(node: number): string {
    const names: number[] = [];
    for (let n = node; n > 0; n = this.parent(n)) names.push(this.name(n));
    return names.reverse().join('-');
  }

  locate(address: string): number {
    let node = 0;
    for (const name of address === '' ? [] : address.split('-')) {
      const next = this.children(node).find((child) => this.name(child) === Number(name));
      if (next === undefined) return 0;
      node = next;
    }
    return node;
  }
}
