// The tree of frames with values that a flame graph draws. Node numbers are the source's own; 0 is
// its root, all threads.
import type { Measure } from '../measure.ts';
import type { Profile } from '../model.ts';
import { placeText } from '../sites.ts';

export interface FlameSource {
  readonly rootLabel: string;
  value(node: number): number;
  // By value, greatest first; those without a value are left out.
  children(node: number): readonly number[];
  parent(node: number): number; // -1 for the root
  name(node: number): number; // -1 for the root
  // Beside the name: the line that calls it, or from which it calls (sites=on).
  before(node: number): string;
  after(node: number): string;
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

  before(node: number): string {
    const line = node === 0 ? '' : placeText(this.profile.place[node - 1]);
    return line === '' ? '' : `${line} `;
  }

  after(): string {
    return '';
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
    return node === 0 ? '' : String(this.profile.addressOf(node - 1));
  }

  locate(address: string): number {
    return /^\d+$/.test(address) ? this.profile.nodeAt(Number(address)) + 1 : 0;
  }
}

interface CallersNode {
  readonly name: number;
  readonly place: number; // from which it calls
  readonly parent: number;
  readonly value: number;
  // The origin of the value: the profile's nodes at this place of the chains, with the value that
  // was spent at the chains' beginning.
  readonly at: number[];
  readonly values: number[];
  readonly sampled: boolean;
  children: number[] | undefined;
}

type Group = Omit<CallersNode, 'parent' | 'value' | 'sampled' | 'children'> & { events: boolean };

function addressOf(name: number, place: number): string {
  return place === 0 ? `${name}` : `${name}p${place}`;
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
    this.add({ name: -1, place: 0, parent: -1, at, values, sampled: false });
    this.nodes[0].children = this.group(0, at, values, []);
  }

  private add(node: Omit<CallersNode, 'value' | 'children'>) {
    const value = node.values.reduce((sum, each) => sum + each, 0);
    this.nodes.push({ ...node, value, children: undefined });
    return this.nodes.length - 1;
  }

  // `places`: from which those at `at` call; none: they do not.
  private group(
    parent: number,
    at: readonly number[],
    values: readonly number[],
    places: readonly number[],
  ): number[] {
    const groups = new Map<string, Group>();
    at.forEach((node, i) => {
      const name = this.profile.name[node];
      const place = places[i] ?? 0;
      const key = addressOf(name, place);
      let group = groups.get(key);
      if (group === undefined) {
        groups.set(key, (group = { name, place, at: [], values: [], events: false }));
      }
      group.at.push(node);
      group.values.push(values[i]);
      group.events ||= this.profile.origin(node) !== 's';
    });
    const children = Array.from(groups.values(), ({ events, ...group }) =>
      this.add({ ...group, parent, sampled: !events }),
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
      const places: number[] = [];
      here.at.forEach((below, i) => {
        const caller = this.profile.parent[below];
        if (caller < 0) return;
        at.push(caller);
        values.push(here.values[i]);
        places.push(this.profile.place[below]);
      });
      here.children = this.group(node, at, values, places);
    }
    return here.children;
  }

  parent(node: number): number {
    return this.nodes[node].parent;
  }

  name(node: number): number {
    return this.nodes[node].name;
  }

  before(): string {
    return '';
  }

  after(node: number): string {
    return placeText(this.nodes[node].place);
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
    const names: string[] = [];
    for (let n = node; n > 0; n = this.parent(n)) {
      names.push(addressOf(this.name(n), this.nodes[n].place));
    }
    return names.reverse().join('-');
  }

  locate(address: string): number {
    let node = 0;
    for (const name of address === '' ? [] : address.split('-')) {
      const next = this.children(node).find(
        (child) => addressOf(this.name(child), this.nodes[child].place) === name,
      );
      if (next === undefined) return 0;
      node = next;
    }
    return node;
  }
}
