// Two traces in one tree: a Profile for each side, with the same nodes, and measures of both. No DOM
// here.
import type { PageData } from '../data.ts';
import { formatCount, formatTicks, formatTime } from '../format.ts';
import { makeMeasure, type Measure, timeUnitOf, unitOfMetric } from '../measure.ts';
import { Profile } from '../model.ts';
import type { DiffData, DiffMeasureColumns } from './data.ts';

export interface DiffMeasure {
  readonly id: string; // in the URL
  readonly label: string;
  readonly unit: string;
  readonly before: Measure;
  readonly after: Measure;
  readonly either: Measure; // of each node's own values the greater: every path has a width
  readonly columns: DiffMeasureColumns;
  format(value: number): string;
}

export type Width = 'after' | 'before' | 'either';

const kSignificant = 3; // standard deviations, as in --report=diff
const kMuchTime = 0.01; // of all time, the same
const kUsualOrder = ['ticks', 'time', 'calls', 'off'];
const kNoRows = { without_lines: 0, without_text: 0, files: [] };

function valuesOf(data: DiffData, name: string, side: 'before' | 'after'): number[] {
  const measure = data.measures.find((each) => each.name === name && !each.is_metric);
  return measure?.[side] ?? new Array<number>(data.nodes.level.length).fill(0);
}

// One side as the data of a page: what views that are about one profile need.
function sideData(data: DiffData, side: 'before' | 'after'): PageData {
  const { level } = data.nodes;
  const none = new Array<number>(level.length).fill(0);
  const unknown = new Array<null>(level.length).fill(null);
  const noRoutine = new Array<number>(data.routines.length).fill(0);
  const { traces, duration } = data.sides[side === 'before' ? 0 : 1];
  const calls = valuesOf(data, 'calls', side);
  return {
    format: data.format, version: data.version, title: data.title, unit: data.unit,
    ns_per_unit: data.ns_per_unit, tick_ns: data.tick_ns, duration, traces,
    totals: {}, invariants: { stanzas: 0, broken: [] }, losses: [], findings: [],
    merge: { samples: 0, unwinds: 0, ticks: 0, whole: 0, placed: 0, without_events: 0, unmatched: 0, without_frames: 0 },
    threads: [{
      name: 'all threads', group: 'all threads', tid: 0, java_tid: 0, trace: 0, samples: 0, folded: 0,
      virtual: false, daemon: false, vm: false,
    }],
    routines: data.routines, kinds: data.kinds, owners: data.owners, metrics: [], metric_units: [],
    nodes: {
      level, name: data.nodes.name,
      origin: data.nodes.name.map((name, i) => (level[i] === 0 ? 't' : name < 0 ? 'p' : 'e')).join(''),
      calls, calls_jitted: none, base: none, off: none, min: unknown, max: unknown, base_ticks: none, samples: none,
      metrics: [],
    },
    flat: {
      calls: noRoutine, calls_jitted: noRoutine, base: noRoutine, cum: noRoutine, cum2: noRoutine,
      elapsed: noRoutine, base_ticks: noRoutine, cum_ticks: noRoutine, cum2_ticks: noRoutine,
      samples: noRoutine, outside_calls: noRoutine, outside_time: noRoutine, min: [], max: [],
    },
    pruned: { nodes: data.nodes_left_out, heat: 'ticks', most: 0 },
    timeline: {
      start: 0, width: 1, running: [], waiting: [], c1: [], c2: [], other_code: [], classes: [], gc: [],
      collections: [], collections_left_out: 0,
    },
    headline: { measure: '', whole: 0, consumers: [], probe_compilation: 0, heaviest: [], called: [], allocates: [] },
    sources: kNoRows,
  };
}

function wordsOf(data: DiffData, { name, is_metric, unit }: DiffMeasureColumns): Pick<DiffMeasure, 'id' | 'label' | 'unit' | 'format'> {
  if (is_metric) return { id: `metric:${name}`, label: name, ...unitOfMetric(name, unit) };
  const time = (value: number) => formatTime(value, data.ns_per_unit);
  switch (name) {
    case 'ticks':
      return {
        id: name, label: 'samples', unit: data.tick_ns > 0 ? 'sampled time' : 'sample ticks',
        format: (value) => formatTicks(value, data.tick_ns),
      };
    case 'time':
      return {
        id: name, label: 'time', format: time,
        unit: timeUnitOf({ ns_per_unit: data.ns_per_unit, traces: data.sides.flatMap((side) => side.traces) }),
      };
    case 'off':
      return { id: name, label: 'waiting', unit: 'time off the processors', format: time };
    default:
      return { id: name, label: name, unit: name, format: formatCount };
  }
}

function orderOf({ name, is_metric }: DiffMeasureColumns): number {
  return is_metric ? kUsualOrder.length : kUsualOrder.indexOf(name);
}

export class Comparison {
  readonly before: Profile;
  readonly after: Profile;
  readonly measures: readonly DiffMeasure[]; // at least one
  private readonly inBefore: Uint8Array; // by node: it or a node below it has any value there
  private readonly inAfter: Uint8Array;

  constructor(readonly data: DiffData) {
    this.before = new Profile(sideData(data, 'before'));
    this.after = new Profile(sideData(data, 'after'));
    this.measures = data.measures
      .slice()
      .sort((a, b) => orderOf(a) - orderOf(b))
      .map((columns) => this.measureFrom(columns));
    this.inBefore = this.presence('before');
    this.inAfter = this.presence('after');
  }

  private measureFrom(columns: DiffMeasureColumns): DiffMeasure {
    const words = wordsOf(this.data, columns);
    const { parent } = this.after;
    const make = (values: Float64Array) => makeMeasure(words.id, words.label, words.unit, values, parent, words.format);
    const [before, after] = [Float64Array.from(columns.before), Float64Array.from(columns.after)];
    const either = after.map((value, i) => Math.max(value, before[i]));
    return { ...words, columns, before: make(before), after: make(after), either: make(either) };
  }

  private presence(side: 'before' | 'after'): Uint8Array {
    const { parent, nodeCount } = this.after;
    const present = new Uint8Array(nodeCount);
    for (const measure of this.data.measures) measure[side].forEach((value, i) => (present[i] |= value === 0 ? 0 : 1));
    for (let node = nodeCount - 1; node > 0; --node) present[parent[node]] |= present[node];
    return present;
  }

  // The trace that alone has the path; undefined: both have it.
  onlyIn(node: number): 'before' | 'after' | undefined {
    if (this.inBefore[node] === this.inAfter[node]) return undefined;
    return this.inBefore[node] === 1 ? 'before' : 'after';
  }

  // By the id in the URL; the first one otherwise.
  measure(id: string | undefined): DiffMeasure {
    return this.measures.find((measure) => measure.id === id) ?? this.measures[0];
  }

  // Samples are drawn: a difference of their numbers may be chance. Times differ from run to run: less than a
  // hundredth of all says nothing, as in the text report. All else is exact.
  isChance(measure: DiffMeasure, before: number, after: number): boolean {
    if (measure.id === 'time' || measure.id === 'off') {
      return Math.abs(after - before) < kMuchTime * Math.max(measure.before.whole, measure.after.whole);
    }
    if (measure.id !== 'ticks') return false;
    const { tick_variance_before, tick_variance_after } = this.data;
    const variance = (before * tick_variance_before + after * tick_variance_after) / 1e6;
    return Math.abs(after - before) < kSignificant * Math.sqrt(variance);
  }
}
