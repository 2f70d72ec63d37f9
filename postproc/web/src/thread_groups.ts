// Threads whose names differ in numbers only as one tree, as in text reports (--aggregate=group).
// No DOM here.
import type { PageData, ThreadFacts } from './data.ts';
import { type Merged, mergeNodes, unchanged } from './merged_nodes.ts';

export interface ThreadGroup {
  readonly number: number; // its first thread
  readonly name: string; // the thread's own, if there is one only
  readonly threads: readonly number[];
}

// In the order of their first threads.
export function groupsOf(threads: readonly ThreadFacts[]): ThreadGroup[] {
  const members = new Map<string, number[]>();
  threads.forEach(({ trace, group }, thread) => {
    const key = `${trace} ${group}`;
    const known = members.get(key);
    if (known === undefined) members.set(key, [thread]);
    else known.push(thread);
  });
  return Array.from(members.values(), (list) => {
    const first = threads[list[0]];
    return { number: list[0], name: list.length > 1 ? first.group : first.name, threads: list };
  });
}

// Which groups are shown as their threads, as the page's state has it: "all", or their numbers.
export class Unfolded {
  constructor(
    private readonly groups: readonly ThreadGroup[],
    private readonly numbers: ReadonlySet<number>,
  ) {}

  static parse(groups: readonly ThreadGroup[], text: string | undefined): Unfolded {
    const several = groups.filter(({ threads }) => threads.length > 1);
    const words = new Set((text ?? '').split('.').filter((word) => /^\d+$/.test(word)).map(Number));
    const chosen = text === 'all' ? several : several.filter(({ number }) => words.has(number));
    return new Unfolded(several, new Set(chosen.map(({ number }) => number)));
  }

  get isPossible(): boolean {
    return this.groups.length > 0;
  }
  get isAll(): boolean {
    return this.numbers.size === this.groups.length;
  }
  has(group: ThreadGroup): boolean {
    return this.numbers.has(group.number);
  }

  format(): string | undefined {
    if (this.numbers.size === 0) return undefined;
    return this.isAll ? 'all' : Array.from(this.numbers).sort((a, b) => a - b).join('.');
  }

  toggled(group: ThreadGroup): Unfolded {
    const numbers = new Set(this.numbers);
    if (!numbers.delete(group.number)) numbers.add(group.number);
    return new Unfolded(this.groups, numbers);
  }
  // All groups, or none.
  all(): Unfolded {
    return new Unfolded(this.groups, new Set(this.isAll ? [] : this.groups.map(({ number }) => number)));
  }
}

function factsOf(threads: readonly ThreadFacts[], group: ThreadGroup): ThreadFacts {
  const members = group.threads.map((thread) => threads[thread]);
  const sum = (get: (thread: ThreadFacts) => number) => members.reduce((all, each) => all + get(each), 0);
  return {
    ...members[0],
    name: group.name,
    tid: 0,
    java_tid: 0,
    samples: sum(({ samples }) => samples),
    folded: sum(({ folded }) => Math.max(folded, 1)),
  };
}

// Null if no threads are merged.
export function mergeThreads(data: PageData, unfolded: Unfolded): (Merged & { threads: ThreadFacts[] }) | null {
  const groups = groupsOf(data.threads);
  const isMerged = (group: ThreadGroup) => group.threads.length > 1 && !unfolded.has(group);
  if (!groups.some(isMerged)) return null;
  const threads: ThreadFacts[] = [];
  const number = new Int32Array(data.threads.length); // of a thread among the new ones
  for (const group of groups) {
    if (isMerged(group)) {
      for (const thread of group.threads) number[thread] = threads.length;
      threads.push(factsOf(data.threads, group));
    } else {
      for (const thread of group.threads) number[thread] = threads.push(data.threads[thread]) - 1;
    }
  }
  const fateOf = unchanged(data.nodes);
  const routines = data.routines.length;
  const merged = mergeNodes(data.nodes, true, (old, parent) => {
    const fate = fateOf(old);
    return parent >= 0 ? fate : { ...fate, name: routines + number[fate.name - routines] };
  });
  // A root's one call is not a call.
  merged.nodes.level.forEach((level, node) => {
    if (level === 0) merged.nodes.calls[node] = 1;
  });
  return { ...merged, threads };
}
