// The page's data as jtrace-post writes it (postproc/page/page_data.cc), and how it is opened.
//
// Columns are parallel arrays. Nodes are in preorder: a node's subtree is the run that begins with
// it, its parent the last node before it of the level above.

import type { TimeRange } from './time_range.ts';

export type MetricUnit = 'count' | 'bytes' | 'ns';

export interface NodeColumns {
  level: number[]; // 0: a thread's root
  // routine; routines.length + thread for a root; -1: nodes left out, in sum. The page itself makes
  // others below 0 (folding.ts).
  name: number[];
  // From where the caller calls it: line · 2, or bytecode index · 2 + 1; 0: unknown. Missing in
  // traces without places (sites=on).
  place?: number[];
  // A node, a number, a node, a number…: of its samples, those that count at another node too, which
  // differs only by places. Not of nodes that were left out.
  repeated_samples?: number[];
  apart?: number[]; // nodes that stay apart from siblings of their name (--merge=none)
  origin: string; // a letter for each node: t thread, e event, s sample, p pruned
  calls: number[];
  calls_jitted: number[];
  base: number[];
  off: number[];
  min: (number | null)[]; // base of one activation; null: not known
  max: (number | null)[];
  base_ticks: number[];
  samples: number[];
  metrics: number[][]; // by metric, then by node; self
}

// A row for each routine over all threads: exact even if nodes were left out.
export interface FlatColumns {
  calls: number[];
  calls_jitted: number[];
  base: number[];
  cum: number[];
  cum2: number[];
  elapsed: number[];
  base_ticks: number[];
  cum_ticks: number[];
  cum2_ticks: number[];
  samples: number[];
  outside_calls: number[]; // out of scope, made by the routine itself
  outside_time: number[];
  min: (number | null)[];
  max: (number | null)[];
}

export interface TraceFacts {
  file: string;
  facts: [string, string][];
  cut_off: boolean;
  running: boolean;
}

export interface Loss {
  severity: 'info' | 'warning' | 'error';
  name: string;
  count: number;
  what: string;
  advice: string;
}

// What a rule found: --report=findings.
export interface Finding {
  rule: string;
  share: string;
  of: string;
  finding: string;
  evidence: string;
  suggestion: string;
  next: string;
}

export interface MergeFacts {
  samples: number;
  unwinds: number;
  ticks: number;
  whole: number;
  placed: number;
  without_events: number;
  unmatched: number;
  without_frames: number;
}

export interface ThreadFacts {
  name: string;
  group: string; // the same for threads whose names differ in numbers only
  tid: number;
  java_tid: number;
  trace: number;
  samples: number;
  folded: number; // the number of threads in this tree
  virtual: boolean;
  daemon: boolean;
  vm: boolean;
}

// Sums by bucket of time; bucket i begins at start + i · width.
export interface Timeline {
  start: number;
  width: number;
  running: number[]; // ticks of threads that ran
  waiting: number[]; // ticks of threads that did not
  c1: number[]; // pieces of code, by who compiled them
  c2: number[];
  other_code: number[]; // wrappers, and where the compiler is not known
  classes: number[]; // loaded
  gc: number[]; // time inside collections
  collections: [begin: number, end: number, what: string][];
  collections_left_out: number;
}

// Ticks by cell of the heatmap: cell i begins at start + i · width. A column has `rows` of them.
export interface Heat {
  start: number; // that of the timeline
  width: number;
  rows: number;
  ticks: number[];
}

// Ticks of nodes in buckets of time; bucket i begins with the heatmap's cell i · cells.
export interface Times {
  cells: number; // in a bucket
  count: number; // buckets
  // Sums by node and bucket, in parallel.
  node: number[]; // differences
  bucket: number[];
  ticks: number[];
}

// The nodes folded away so that the page stays small.
export interface Pruned {
  nodes: number; // left out
  heat: 'ticks' | 'time' | 'calls'; // the measure by which nodes were compared
  most: number; // no node left out has more
}

export interface SourceMethod {
  name: string;
  routine: number; // -1: none, it was never called
  first: number; // line
  last: number;
  calls: number;
  bytecodes: number;
  inlined: boolean; // its code ran in other methods (Kotlin)
  never_loaded: boolean; // the class
}

// A source file with counts of its lines (blocks=on). Columns are by line with code; the page has
// them only of files of which something ran, as far as there is room.
export interface SourceFile {
  path: string; // '': methods without a file
  instructions: number; // executed
  lines: number;
  lines_run: number;
  branches: number;
  branches_taken: number;
  ticks: number;
  marks?: string; // a letter for each line: | it ran, + it has several blocks and some ran, # never
  number?: number[];
  count?: number[];
  bytecodes?: number[];
  cycles?: number[];
  self?: number[]; // ticks
  outcomes?: number[]; // of its conditions
  taken?: number[];
  blocks?: number[][]; // counts, of lines with several blocks
  // Hundredths of a percent of the method's own; -1: none.
  shares?: { self: number[]; bytecodes: number[]; cycles: number[] };
  methods?: SourceMethod[]; // by their first line
  where?: string; // where the text was found
  text?: string[];
}

export interface Sources {
  files: SourceFile[]; // most instructions first
  without_lines: number; // files that ran and for which there was no room
  without_text: number; // the same, of their text
}

// A method of the program. Routines by their numbers; -1: none.
export interface HeavyMethod {
  routine: number;
  own: number; // with what it calls that is not the program's
  calls: number;
  callee: number; // of what it calls that is not the program's, the heaviest
  of_callee: number;
  callers: number[]; // on its heaviest path, the nearest first; the program's only
}

export interface Consumer {
  name: string; // program, jdk, jtrace, native, vm, kernel, unknown, jit, collector, other
  of_program: boolean; // in the program's threads
  amount: number;
  parts: [name: string, amount: number][]; // greatest first
}

// What --report=headline says.
export interface Headline {
  measure: string; // as in Measure.id
  whole: number;
  consumers: Consumer[];
  probe_compilation: number; // of the JIT compiler's amount, for the probes: an estimate
  heaviest: HeavyMethod[];
  called: HeavyMethod[];
  allocates: HeavyMethod[];
}

export interface PageData {
  format: number;
  version: string;
  title: string;
  unit: 'ns' | 'us' | 'ms' | 'ticks';
  ns_per_unit: number; // 0 for ticks
  tick_ns: number; // what one tick stands for; 0: unknown
  duration: number;
  traces: TraceFacts[];
  totals: Record<string, number>;
  merge: MergeFacts;
  invariants: { stanzas: number; broken: number[] };
  losses: Loss[];
  findings: Finding[];
  threads: ThreadFacts[];
  routines: string[];
  kinds: string; // a letter for each routine: FrameKind
  owners: string; // the same: j of the JDK's classes, else -
  metrics: string[];
  metric_units: MetricUnit[]; // by metric
  nodes: NodeColumns;
  flat: FlatColumns;
  pruned: Pruned;
  timeline: Timeline;
  heat?: Heat; // both are missing if the nodes are not those that samples were placed at
  times?: Times;
  range?: TimeRange; // the page's own: base_ticks of nodes are of this part of the run
  headline: Headline;
  sources: Sources;
}

export const kDataFormat = 1;

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export async function openData(base64: string): Promise<PageData> {
  const packed = new Blob([bytesOf(base64.trim())]);
  const stream = packed.stream().pipeThrough(new DecompressionStream('gzip'));
  const data = (await new Response(stream).json()) as PageData;
  if (data.format !== kDataFormat) {
    throw new Error(`the data has format ${data.format}, this page reads ${kDataFormat}`);
  }
  return data;
}
