// All that is known about a node, in words.
import { formatBytes, formatCount, formatPercent, formatTicks, formatTime } from './format.ts';
import type { Measure } from './measure.ts';
import type { Profile } from './model.ts';
import { kindLabel } from './palette.ts';

export type Fact = readonly [label: string, value: string];

const kOrigins: Record<string, string> = {
  t: 'thread',
  e: 'counted by events',
  s: 'seen only by samples',
  p: 'sum of the nodes that were left out',
};

export function originLabel(profile: Profile, node: number): string {
  const origin = profile.origin(node);
  return origin === 'e' || origin === 's'
    ? `${kindLabel(profile.kind(profile.name[node]))}, ${kOrigins[origin]}`
    : kOrigins[origin];
}

// The measure's own numbers first.
export function measureFacts(profile: Profile, measure: Measure, node: number): Fact[] {
  const total = measure.total[node];
  const parent = profile.parent[node];
  const facts: Fact[] = [
    [measure.label, `${measure.format(total)} · ${formatPercent(total, measure.whole)} of all`],
  ];
  if (parent >= 0) facts.push(['of its caller', formatPercent(total, measure.total[parent])]);
  facts.push(['self', measure.format(measure.self[node])]);
  return facts;
}

export function nodeFacts(profile: Profile, node: number): Fact[] {
  const { nodes, ns_per_unit: ns, tick_ns: tick } = profile.data;
  const facts: Fact[] = [];
  const site = profile.siteOf(node);
  if (site !== '') facts.push(['called from', site]);
  if (nodes.calls[node] > 0 && !profile.isRoot(node)) {
    const jitted = formatPercent(nodes.calls_jitted[node], nodes.calls[node]);
    const note = nodes.calls_jitted[node] > 0 ? ` (${jitted} compiled)` : '';
    facts.push(['calls', formatCount(nodes.calls[node]) + note]);
  }
  const of = (id: string) => profile.measures.find((measure) => measure.id === id);
  const time = of('time');
  if (time !== undefined && time.total[node] > 0) {
    const calls = nodes.calls[node];
    const each = calls > 0 ? ` (${formatTime(time.total[node] / calls, ns)} a call)` : '';
    facts.push(['time', formatTime(time.total[node], ns) + each]);
  }
  const least = nodes.min[node];
  const most = nodes.max[node];
  if (least !== null && most !== null && time !== undefined) {
    facts.push(['self, one call', `${formatTime(least, ns)} to ${formatTime(most, ns)}`]);
  }
  if (nodes.off[node] > 0) facts.push(['waiting, self', formatTime(nodes.off[node], ns)]);
  const ticks = of('ticks');
  if (ticks !== undefined && ticks.total[node] > 0) {
    const length = tick > 0 ? ` (${formatTicks(ticks.total[node], tick)})` : '';
    facts.push(['sample ticks', formatCount(ticks.total[node]) + length]);
  }
  profile.data.metrics.forEach((name) => {
    const metric = of(`metric:${name}`);
    if (metric === undefined || metric.total[node] === 0) return;
    const format = /bytes/.test(name) ? formatBytes : formatCount;
    facts.push([name, format(metric.total[node])]);
  });
  return facts;
}
