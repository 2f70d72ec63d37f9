// The data of a page that compares two traces, as jtrace-post writes it (postproc/diff/diff_page.cc):
// one tree of both, whose nodes are the same if the names on their paths are. Threads are left out.
import type { MetricUnit, PageData, TraceFacts } from '../data.ts';

export interface DiffSide {
  title: string;
  duration: number;
  traces: TraceFacts[];
}

// Columns are parallel arrays, by node or by routine.
export interface DiffMeasureColumns {
  name: string; // calls, ticks, time, off, or a metric's name
  is_metric: boolean;
  unit: MetricUnit; // of a metric
  before: number[]; // by node, without callees
  after: number[];
  self_before: number[]; // by routine: exact even if nodes were left out
  self_after: number[];
  total_before: number[]; // over outermost activations
  total_after: number[];
}

// Of all routines, in the words of --report=diff.
export interface DiffTotal {
  what: string;
  before: string;
  after: string;
  growth: string;
}

export interface DiffData {
  format: number;
  kind: 'diff';
  version: string;
  title: string;
  unit: PageData['unit'];
  ns_per_unit: number;
  tick_ns: number;
  sides: [before: DiffSide, after: DiffSide];
  warnings: string[]; // how the recordings differ
  broken: string[]; // rules of --fail-on
  totals: DiffTotal[];
  states: string; // "1 appeared, 0 vanished, …"
  // The variance of a sum of samples, for each tick, in millionths.
  tick_variance_before: number;
  tick_variance_after: number;
  routines: string[]; // the greatest changes first
  kinds: string; // as in PageData
  owners: string;
  changes: string; // a letter for each routine: s same, c changed, a appeared, v vanished
  significant: string; // 1: its self samples differ by more than chance
  nodes: { level: number[]; name: number[] }; // preorder; names as in PageData
  nodes_in_all: number;
  nodes_left_out: number;
  measures: DiffMeasureColumns[];
}

export function isDiff(data: PageData | DiffData): data is DiffData {
  return 'kind' in data && data.kind === 'diff';
}
