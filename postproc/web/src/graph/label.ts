// The text of a node: its name, shortened, and data to the left and right.
import { formatCount, formatPercent } from '../format.ts';
import type { Measure } from '../measure.ts';
import type { Profile } from '../model.ts';
import { type CallGraph, type GraphNode, kAllThreads } from './call_graph.ts';
import type { Datum } from './options.ts';

export const kAllThreadsName = '[all threads]';

export function fullName(profile: Profile, name: number): string {
  return name === kAllThreads ? kAllThreadsName : profile.text(name);
}

// "Session.commit" of "org.h2.engine.Session.commit(boolean)": only Java names have packages. Other
// names lose their parameters.
export function shortName(name: string, most: number): string {
  let short = name.replace(/ \[clone [^\]]*\]$/, '');
  const bracket = short.indexOf('(', 1);
  if (bracket > 0 && short.endsWith(')')) {
    short = short.slice(0, bracket);
    const method = short.lastIndexOf('.');
    if (method > 0 && !short.includes('::')) short = short.slice(short.lastIndexOf('.', method - 1) + 1);
  }
  if (short.length <= most) return short;
  // In "JdbcPreparedStatement.executeBatch" the class is shortened: "JdbcPrepared….executeBatch".
  const method = short.slice(short.lastIndexOf('.') + 1);
  const room = most - method.length - 2;
  if (room >= 4 && method.length < short.length) return `${short.slice(0, room)}….${method}`;
  // The end is more distinctive than the middle.
  const tail = Math.ceil((most - 1) * 0.6);
  return `${short.slice(0, most - 1 - tail)}…${short.slice(short.length - tail)}`;
}

export function datumOf(graph: CallGraph, measure: Measure, node: GraphNode, datum: Datum): string {
  switch (datum) {
    case 'none':
      return '';
    case 'total %':
      return formatPercent(node.total, graph.whole);
    case 'total':
      return measure.format(node.total);
    case 'self %':
      return formatPercent(node.self, graph.whole);
    case 'self':
      return measure.format(node.self);
    case 'calls':
      return node.calls > 0 && node.name !== kAllThreads ? `${formatCount(node.calls)}×` : '';
    case 'collapsed %':
      return node.collapsed > 0 ? formatPercent(node.collapsed, graph.whole) : '';
  }
}

export interface Label {
  readonly left: string;
  readonly name: string;
  readonly right: string;
}

export interface Drawn {
  readonly label: Label;
  readonly leftWidth: number;
  readonly nameWidth: number;
  readonly width: number; // of the box
  readonly height: number;
}

export const kPadding = 10;
export const kPartGap = 8;
export const kSymbolRoom = 15;
const kHeight = 26;

export type TextWidth = (text: string, font: 'name' | 'datum') => number;

export function drawnLabel(label: Label, hasSymbol: boolean, widthOf: TextWidth): Drawn {
  const leftWidth = label.left === '' ? 0 : widthOf(label.left, 'datum') + kPartGap;
  const nameWidth = widthOf(label.name, 'name');
  const rightWidth = label.right === '' ? 0 : widthOf(label.right, 'datum') + kPartGap;
  const symbol = hasSymbol ? kSymbolRoom : 0;
  const width = Math.ceil(leftWidth + nameWidth + rightWidth + symbol + 2 * kPadding);
  return { label, leftWidth, nameWidth, width: Math.max(60, width), height: kHeight };
}
