// A part of the run: the samples in it. Counts and exact times cannot be divided by time: only
// samples say when. No DOM here.
import type { PageData, Times } from './data.ts';
import { formatTime } from './format.ts';

// Buckets of Times, from the first to before the last.
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

// "12-40"; undefined: the whole run.
export function parseRange(data: PageData, text: string | undefined): TimeRange | undefined {
  const words = /^(\d+)-(\d+)$/.exec(text ?? '');
  if (words === null || data.times === undefined) return undefined;
  const from = Number(words[1]);
  const to = Math.min(Number(words[2]), data.times.count);
  return from < to && to - from < data.times.count ? { from, to } : undefined;
}

export function formatRange({ count }: Times, { from, to }: TimeRange): string | undefined {
  return to - from >= count || from >= to ? undefined : `${from}-${to}`;
}

// Of buckets of the timeline that a person chose: all that they touch.
export function rangeOf({ width, count }: Times, begin: number, end: number): TimeRange {
  const from = Math.min(Math.max(Math.floor(Math.min(begin, end) / width), 0), count - 1);
  const to = Math.min(Math.max(Math.ceil(Math.max(begin, end) / width), from + 1), count);
  return { from, to };
}

// "1.20 s to 3.40 s", from the timeline's beginning.
export function rangeText({ times, timeline, ns_per_unit: ns }: PageData, { from, to }: TimeRange): string {
  const at = (bucket: number) => {
    const buckets = Math.min(bucket * times!.width, timeline.gc.length);
    return buckets === 0 ? '0' : formatTime(buckets * timeline.width, ns);
  };
  return `${at(from)} to ${at(to)}`;
}

// By node: its ticks in the range.
export function ticksIn(times: Times, nodes: number, { from, to }: TimeRange): number[] {
  const ticks = new Array<number>(nodes).fill(0);
  let node = 0;
  times.node.forEach((step, i) => {
    node += step;
    if (times.bucket[i] >= from && times.bucket[i] < to) ticks[node] += times.ticks[i];
  });
  return ticks;
}

// The same data with the ticks of the range only.
export function dataIn(data: PageData, range: TimeRange): PageData {
  const { nodes, times } = data;
  if (times === undefined) return data;
  return { ...data, range, nodes: { ...nodes, base_ticks: ticksIn(times, nodes.level.length, range) } };
}
