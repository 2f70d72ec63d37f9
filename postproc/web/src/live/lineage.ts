// Successive data of one recording with the same numbers for the same things, so that what the URL
// and the views name by numbers stays: routines, threads and files keep theirs; nodes, whose numbers
// are their order, have addresses (Profile.addressOf). No DOM here.
import type { HeavyMethod, PageData } from '../data.ts';
import { Profile } from '../model.ts';
import { addressesOf } from './addresses.ts';
import { recordingOf } from './recording.ts';

// Numbers by key, dense from 0. A number of a key that is gone goes to a new one.
class Numbers {
  private known: ReadonlyMap<string, number> = new Map(); // of the last data

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
    const known = new Map<string, number>();
    keys.forEach((key, old) => {
      if (to[old] < 0) {
        while (taken[free] === 1) ++free;
        to[old] = free++;
      }
      known.set(key, to[old]);
    });
    this.known = known;
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
  private recording = '';
  private routines = new Numbers();
  private threads = new Numbers();
  private files = new Numbers();
  private kept = new Map<string, readonly number[]>();

  // The next data, as a profile.
  next(received: PageData): Profile {
    const recording = recordingOf(received);
    if (recording !== this.recording) this.begin(recording);
    const threads = distinct(received.threads.map(({ trace, tid, java_tid, name }) => `${trace} ${tid} ${java_tid} ${name}`));
    const moves = {
      routines: this.routines.assign(distinct(received.routines)),
      threads: this.threads.assign(threads),
      files: this.files.assign(distinct(received.sources.files.map(({ path }) => path))),
    };
    const data = renumbered(received, moves);
    const addresses = addressesOf(data, recording, moved(threads, moves.threads));
    return new Profile(data, undefined, { ...addresses, kept: this.kept });
  }

  // Nothing is the same in another recording.
  private begin(recording: string): void {
    this.recording = recording;
    this.routines = new Numbers();
    this.threads = new Numbers();
    this.files = new Numbers();
    this.kept = new Map();
  }
}
