// Successive data of one recording with the same numbers for the same things, so that what the URL
// and the views name by numbers stays: routines, threads and files keep theirs; nodes, whose numbers
// are their order, keep their addresses (Profile.addressOf). No DOM here.
import type { HeavyMethod, PageData } from '../data.ts';
import { Profile } from '../model.ts';
import type { Addresses } from './addresses.ts';

// Numbers by key, dense from 0. A number of a key that is gone goes to a new one.
class Numbers {
  private readonly known = new Map<string, number>();

  // By old number: the one to use.
  assign(keys: readonly string[]): Int32Array {
    const to = new Int32Array(keys.length).fill(-1);
    const taken = new Uint8Array(keys.length);
    keys.forEach((key, old) => {
      const number = this.known.get(key);
      if (number === undefined || number >= keys.length || taken[number] === 1) return;
      to[old] = number;
      taken[number] = 1;
    });
    let free = 0;
    keys.forEach((key, old) => {
      if (to[old] < 0) {
        while (taken[free] === 1) ++free;
        to[old] = free++;
      }
      this.known.set(key, to[old]);
    });
    return to;
  }
}

// The same, with a number behind each repetition.
function distinct(keys: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return keys.map((key) => {
    const times = seen.get(key) ?? 0;
    seen.set(key, times + 1);
    return times === 0 ? key : `${key}\0${times}`;
  });
}

function moved<T>(values: readonly T[], to: Int32Array): T[] {
  const next = new Array<T>(values.length);
  values.forEach((value, old) => (next[to[old]] = value));
  return next;
}

interface Moves {
  readonly routines: Int32Array;
  readonly threads: Int32Array;
  readonly files: Int32Array;
}

function renumbered(data: PageData, { routines, threads, files }: Moves): PageData {
  const count = data.routines.length;
  const routine = (old: number) => (old < 0 ? old : routines[old]);
  const name = (old: number) => (old < count ? routine(old) : count + threads[old - count]);
  const heavy = (methods: readonly HeavyMethod[]) =>
    methods.map((each) => ({
      ...each,
      routine: routine(each.routine),
      callee: routine(each.callee),
      callers: each.callers.map(routine),
    }));
  const flat = Object.fromEntries(
    Object.entries(data.flat).map(([column, values]) => [column, moved(values as number[], routines)]),
  );
  const { headline, sources } = data;
  return {
    ...data,
    routines: moved(data.routines, routines),
    kinds: moved(Array.from(data.kinds), routines).join(''),
    owners: moved(Array.from(data.owners), routines).join(''),
    flat: flat as unknown as PageData['flat'],
    threads: moved(data.threads, threads),
    nodes: { ...data.nodes, name: data.nodes.name.map(name) },
    headline: {
      ...headline,
      heaviest: heavy(headline.heaviest),
      called: heavy(headline.called),
      allocates: heavy(headline.allocates),
    },
    sources: {
      ...sources,
      files: moved(sources.files, files).map(({ methods, ...file }) => ({
        ...file,
        ...(methods && { methods: methods.map((each) => ({ ...each, routine: routine(each.routine) })) }),
      })),
    },
  };
}

export class Lineage {
  private readonly routines = new Numbers();
  private readonly threads = new Numbers();
  private readonly files = new Numbers();
  private readonly addresses = new Map<string, number>(); // by caller's address, name and place
  private readonly kept = new Map<string, readonly number[]>();

  // The next data, as a profile.
  next(received: PageData): Profile {
    const threads = received.threads.map(({ trace, tid, java_tid, name }) => `${trace} ${tid} ${java_tid} ${name}`);
    const data = renumbered(received, {
      routines: this.routines.assign(distinct(received.routines)),
      threads: this.threads.assign(distinct(threads)),
      files: this.files.assign(distinct(received.sources.files.map(({ path }) => path))),
    });
    return new Profile(data, undefined, this.addressesOf(data));
  }

  private addressesOf({ nodes, routines }: PageData): Addresses {
    const of = new Int32Array(nodes.level.length);
    const at = new Map<number, number>();
    const path: number[] = []; // addresses of the last node of each level
    for (let node = 0; node < of.length; ++node) {
      const level = nodes.level[node];
      const name = nodes.name[node];
      // Numbers of threads begin where those of routines end.
      const word = level === 0 ? `t${name - routines.length}` : `${path[level - 1]} ${name} ${nodes.place?.[node] ?? 0}`;
      let address = this.addresses.get(word);
      // Nodes that stay apart from siblings of their name (--merge=none).
      for (let i = 1; address !== undefined && at.has(address); ++i) address = this.addresses.get(`${word} ${i}`);
      if (address === undefined) {
        address = this.addresses.size;
        let key = word;
        for (let i = 1; this.addresses.has(key); ++i) key = `${word} ${i}`;
        this.addresses.set(key, address);
      }
      of[node] = path[level] = address;
      at.set(address, node);
    }
    return { of, at, kept: this.kept };
  }
}
