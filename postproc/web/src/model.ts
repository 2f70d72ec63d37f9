// The profile: the merged call tree in columns, and data derived from it. No DOM here.
import type { PageData } from './data.ts';
import { foldLayers, formatLayers, kLayers, kMarks, type Layer } from './folding.ts';
import type { Addresses } from './live/addresses.ts';
import { type Measure, measuresOf } from './measure.ts';
import type { Merged } from './merged_nodes.ts';
import { placeText, withoutPlaces } from './sites.ts';
import { SourceIndex } from './sources.ts';
import { dataIn, type TimeRange } from './time_range.ts';
import { groupsOf, mergeThreads, type ThreadGroup, type Unfolded } from './thread_groups.ts';

export type Origin = 't' | 'e' | 's' | 'p'; // thread, event, sample, pruned
// The most frequent kind of a routine's sampled frames: J Java, interpreted; C compiled; I inlined;
// N native; V the JVM; K kernel. E: a method that only events saw. Other than methods: c, n a call
// or native call out of the scope, x an exception, p a park, m a marker such as [unmatched], t a
// thread.
export type FrameKind = 'J' | 'C' | 'I' | 'N' | 'V' | 'K' | 'E' | 'c' | 'n' | 'x' | 'p' | 'm' | 't';

const kMostDerived = 2; // of large trees each needs tens of megabytes

export class Profile {
  // Nodes in preorder: node n's subtree is [n, end[n]).
  readonly nodeCount: number;
  readonly level: Int32Array; // 0: a thread's root
  readonly parent: Int32Array; // -1 for roots
  readonly end: Int32Array;
  // The name of a node, by number: a routine; routineCount + thread for roots; the last ones are
  // kMarks: [pruned], which replaces nodes that were left out, and folded frames.
  readonly name: Int32Array;
  readonly hasPlaces: boolean;
  readonly place: Int32Array; // from where its caller calls a node, as in the data
  readonly routineCount: number;
  readonly roots: Int32Array; // by thread
  readonly thread: Int32Array; // of a node
  readonly maxLevel: number;
  readonly measures: readonly Measure[];

  readonly sources: SourceIndex;

  private names: string[];
  private instancesByName: Int32Array[] | undefined;
  private plain: Profile | undefined;
  private readonly derived = new Map<string, Profile>();
  private threadGroups: readonly ThreadGroup[] | undefined;

  // `origin`: the profile whose nodes this one's were merged from. `addresses`: if they are not the
  // nodes' numbers.
  constructor(
    readonly data: PageData,
    private readonly source: { profile: Profile; merged: Merged } | undefined = undefined,
    private readonly addresses: Addresses | undefined = undefined,
  ) {
    const { nodes } = data;
    this.nodeCount = nodes.level.length;
    this.level = Int32Array.from(nodes.level);
    this.routineCount = data.routines.length;
    this.names = [...data.routines, ...data.threads.map((thread) => thread.name), ...kMarks];
    const marks = this.names.length - kMarks.length;
    this.name = Int32Array.from(nodes.name, (name) => (name < 0 ? marks - 1 - name : name));
    this.hasPlaces = nodes.place !== undefined;
    this.place = Int32Array.from(nodes.place ?? new Int32Array(this.nodeCount));
    this.parent = new Int32Array(this.nodeCount).fill(-1);
    this.end = new Int32Array(this.nodeCount).fill(this.nodeCount);
    this.thread = new Int32Array(this.nodeCount);
    this.roots = new Int32Array(data.threads.length).fill(-1);
    this.maxLevel = this.linkNodes();
    this.measures = measuresOf(data, this.level, this.parent);
    this.sources = new SourceIndex(data.sources);
  }

  private linkNodes(): number {
    const path: number[] = []; // the last node of each level
    let maxLevel = 0;
    let thread = -1;
    for (let node = 0; node < this.nodeCount; ++node) {
      const level = this.level[node];
      while (path.length > level) this.end[path.pop()!] = node;
      if (level === 0) {
        thread = this.name[node] - this.routineCount;
        this.roots[thread] = node;
      } else {
        this.parent[node] = path[level - 1];
      }
      this.thread[node] = thread;
      path.push(node);
      maxLevel = Math.max(maxLevel, level);
    }
    return maxLevel;
  }

  measure(id: string | undefined): Measure {
    return this.measures.find((measure) => measure.id === id) ?? this.measures[0];
  }

  origin(node: number): Origin {
    return this.data.nodes.origin[node] as Origin;
  }

  // Of the routine or thread with that name.
  kind(name: number): FrameKind {
    if (name < this.routineCount) return this.data.kinds[name] as FrameKind;
    const mark = name - (this.names.length - kMarks.length);
    return mark < 0 ? 't' : mark === 0 ? 'm' : kLayers[mark - 1].kind;
  }

  // For a node, and for a routine or thread by its number in `name`.
  nameOf(node: number): string {
    return this.names[this.name[node]];
  }
  text(name: number): string {
    return this.names[name];
  }
  get nameCount(): number {
    return this.names.length;
  }

  // The line that calls the node: "app.A.run():120"; "" if it is unknown.
  siteOf(node: number): string {
    return this.place[node] === 0 ? '' : this.nameOf(this.parent[node]) + placeText(this.place[node]);
  }

  // The same with the calls of all places together.
  withoutPlaces(): Profile {
    if (!this.hasPlaces) return this;
    return (this.plain ??= this.merged(withoutPlaces(this.data.nodes)));
  }

  // The same with the samples of a part of the run only.
  inRange(range: TimeRange | undefined): Profile {
    if (range === undefined) return this;
    return this.derive(`range ${range.from} ${range.to}`, () => new Profile(dataIn(this.data, range), undefined, this.addresses));
  }

  private merged(merged: Merged, changes: Partial<PageData> = {}): Profile {
    return new Profile({ ...this.data, ...changes, nodes: merged.nodes }, { profile: this, merged });
  }

  private derive(key: string, make: () => Profile): Profile {
    let profile = this.derived.get(key);
    if (profile === undefined) {
      const [oldest] = this.derived.keys();
      if (this.derived.size >= kMostDerived) this.derived.delete(oldest);
      this.derived.set(key, (profile = make()));
    }
    return profile;
  }

  // By thread.
  get groups(): readonly ThreadGroup[] {
    return (this.threadGroups ??= groupsOf(this.data.threads));
  }

  // The same with each group of threads as one, unless it is unfolded.
  withGroups(unfolded: Unfolded): Profile {
    return this.derive(`threads ${unfolded.format()}`, () => {
      const merged = mergeThreads(this.data, unfolded);
      return merged === null ? this : this.merged(merged, { threads: merged.threads });
    });
  }

  // The same with frames of these layers folded.
  folded(layers: ReadonlySet<Layer>): Profile {
    if (layers.size === 0) return this;
    return this.derive(`fold ${formatLayers(layers)}`, () => this.merged(foldLayers(this.data, layers)));
  }

  // A node as the URL names it: the first of those in the trace that are this one. Links lead to the
  // same code, whatever is merged.
  addressOf(node: number): number {
    if (this.source === undefined) return this.addresses?.of[node] ?? node;
    return this.source.profile.addressOf(this.source.merged.first[node]);
  }
  // -1: there is none.
  nodeAt(address: number): number {
    if (this.source !== undefined) {
      const node = this.source.profile.nodeAt(address);
      return node < 0 ? -1 : this.source.merged.of[node];
    }
    if (this.addresses !== undefined) return this.addresses.at.get(address) ?? -1;
    return Number.isInteger(address) && address >= 0 && address < this.nodeCount ? address : -1;
  }

  // Nodes that a view chooses by itself: in a live page they stay those of the first time.
  kept(key: string, choose: () => number[]): number[] {
    const kept = this.ownAddresses?.kept;
    if (kept === undefined) return choose();
    const known = kept.get(key);
    if (known !== undefined) return known.map((address) => this.nodeAt(address)).filter((node) => node >= 0);
    const chosen = choose();
    kept.set(key, chosen.map((node) => this.addressOf(node)));
    return chosen;
  }
  private get ownAddresses(): Addresses | undefined {
    return this.source === undefined ? this.addresses : this.source.profile.ownAddresses;
  }

  isRoot(node: number): boolean {
    return this.level[node] === 0;
  }

  // From the thread's root to the node.
  path(node: number): number[] {
    const path: number[] = [];
    for (let n = node; n >= 0; n = this.parent[n]) path.push(n);
    return path.reverse();
  }

  children(node: number): number[] {
    const children: number[] = [];
    for (let n = node + 1; n < this.end[node]; n = this.end[n]) children.push(n);
    return children;
  }

  // All nodes of a routine (or the root of a thread), in preorder.
  instances(name: number): Int32Array {
    this.instancesByName ??= this.groupByName();
    return this.instancesByName[name];
  }

  private groupByName(): Int32Array[] {
    const counts = new Int32Array(this.names.length);
    for (const name of this.name) ++counts[name];
    const groups = Array.from(counts, (count) => new Int32Array(count));
    counts.fill(0);
    for (let node = 0; node < this.nodeCount; ++node) {
      const name = this.name[node];
      groups[name][counts[name]++] = node;
    }
    return groups;
  }
}
