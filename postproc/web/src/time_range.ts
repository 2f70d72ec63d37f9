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

// Of a bucket, in units of time.
export function bucketWidth({ heat, times }: PageData): number {
  return heat!.width * times!.cells;
}

// Of times from the timeline's beginning that a person chose: all buckets that they touch.
export function rangeOf(data: PageData, begin: number, end: number): TimeRange {
  const { count } = data.times!;
  const width = bucketWidth(data);
  const from = Math.min(Math.max(Math.floor(Math.min(begin, end) / width), 0), count - 1);
  const to = Math.min(Math.max(Math.ceil(Math.max(begin, end) / width), from + 1), count);
  return { from, to };
}

// Its begin and end, from the timeline's beginning.
export function timesOf(data: PageData, { from, to }: TimeRange): readonly [begin: number, end: number] {
  const last = data.timeline.width * data.timeline.gc.length;
  const at = (bucket: number) => Math.min(bucket * bucketWidth(data), last);
  return [at(from), at(to)];
}

// "1.20 s to 3.40 s", from the timeline's beginning.
export function rangeText(data: PageData, range: TimeRange): string {
  const [begin, end] = timesOf(data, range).map((at) => (at === 0 ? '0' : formatTime(at, data.ns_per_unit)));
  return `${begin} to ${end}`;
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
