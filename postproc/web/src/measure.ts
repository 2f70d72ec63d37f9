// The meaning of a picture's sizes: a number for each node, exclusive and inclusive, with its unit.
import type { MetricUnit, PageData } from './data.ts';
import { formatBytes, formatCount, formatTicks, formatTime } from './format.ts';

export interface Measure {
  readonly id: string; // in the URL
  readonly label: string; // "samples", "time", "calls", a metric's name
  readonly unit: string; // for people: the meaning of a number
  readonly self: Float64Array; // by node
  readonly total: Float64Array; // by node: self over its subtree
  readonly whole: number; // over all nodes
  format(value: number): string;
}

function totalsOf(self: Float64Array, parent: Int32Array): Float64Array {
  const total = self.slice();
  for (let i = total.length - 1; i >= 0; --i) {
    if (parent[i] >= 0) total[parent[i]] += total[i];
  }
  return total;
}

// Of values by node, without callees.
export function makeMeasure(
  id: string,
  label: string,
  unit: string,
  self: Float64Array,
  parent: Int32Array,
  format: (value: number) => string,
): Measure {
  const total = totalsOf(self, parent);
  let whole = 0;
  for (let i = 0; i < self.length; ++i) whole += self[i];
  return { id, label, unit, self, total, whole, format };
}

// The meaning of `time`: only clock=cpu separates waiting; so do text traces, which name no clock.
export function timeUnitOf(data: Pick<PageData, 'ns_per_unit' | 'traces'>): string {
  const time = data.ns_per_unit > 0 ? 'time' : 'clock ticks';
  const clocks = new Set<string>();
  for (const { facts } of data.traces) {
    for (const [key, value] of facts) {
      if (key === 'clock' && value !== 'cpu') clocks.add(value);
    }
  }
  if (clocks.size === 0) return `${time} on a processor`;
  return `${time} (clock=${Array.from(clocks).join(', ')}), waiting included`;
}

export function unitOfMetric(name: string, unit: MetricUnit): Pick<Measure, 'unit' | 'format'> {
  if (unit === 'bytes') return { unit: 'bytes', format: formatBytes };
  if (unit === 'ns') return { unit: 'time', format: (value) => formatTime(value, 1) };
  return { unit: name, format: formatCount };
}

// The measures with any value, the most useful first; at least one.
export function measuresOf(data: PageData, level: Int32Array, parent: Int32Array): Measure[] {
  const { nodes } = data;
  const count = level.length;
  const measures: Measure[] = [];
  const add = (
    id: string,
    label: string,
    unit: string,
    self: Float64Array,
    format: (value: number) => string,
  ) => {
    if (self.some((value) => value !== 0)) {
      measures.push(makeMeasure(id, label, unit, self, parent, format));
    }
  };
  const time = (value: number) => formatTime(value, data.ns_per_unit);
  if (data.range !== undefined) {
    const format = (value: number) => formatTicks(value, data.tick_ns);
    const unit = `${data.tick_ns > 0 ? 'sampled time' : 'sample ticks'} in the chosen part of the run`;
    return [makeMeasure('ticks', 'samples', unit, Float64Array.from(nodes.base_ticks), parent, format)];
  }
  add(
    'ticks',
    'samples',
    data.tick_ns > 0 ? 'sampled time' : 'sample ticks',
    Float64Array.from(nodes.base_ticks),
    (value) => formatTicks(value, data.tick_ns),
  );
  add('time', 'time', timeUnitOf(data), Float64Array.from(nodes.base), time);
  const elapsed = Float64Array.from(nodes.base, (base, i) => base + nodes.off[i]);
  if (nodes.off.some((value) => value !== 0)) {
    add('elapsed', 'elapsed', 'time with waiting', elapsed, time);
  }
  // A root's one call is not a call.
  const calls = Float64Array.from(nodes.calls, (value, i) => (level[i] === 0 ? 0 : value));
  add('calls', 'calls', 'calls', calls, formatCount);
  data.metrics.forEach((name, i) => {
    const { unit, format } = unitOfMetric(name, data.metric_units[i]);
    add(`metric:${name}`, name, unit, Float64Array.from(nodes.metrics[i]), format);
  });
  if (measures.length === 0) {
    measures.push(makeMeasure('calls', 'calls', 'calls', new Float64Array(count), parent, formatCount));
  }
  return measures;
}
