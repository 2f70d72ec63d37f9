// The graph's settings in the URL.
import type { State } from '../state.ts';
import { type ArcWidths, parseArcWidths } from './arc_width.ts';
import { type Detail, type Details, kAllThreads } from './call_graph.ts';
import { kGreatestFilter } from './time_filter.ts';

// The data beside a name.
export type Datum = 'none' | 'total %' | 'total' | 'self %' | 'self' | 'calls' | 'collapsed %';
export const kData: readonly Datum[] = ['none', 'total %', 'total', 'self %', 'self', 'calls', 'collapsed %'];
// What the width of an arc shows.
export type WidthBy = 'total' | 'self';
export const kWidthBy: readonly WidthBy[] = ['total', 'self'];
export const kNameLengths = [16, 24, 32, 48, 80] as const;

// The settings that a picture depends on. 'graph.at', the chosen node or arc, is not one of them.
export const kSettingKeys = [
  'graph.root', 'graph.filter', 'graph.widths', 'graph.by', 'graph.left', 'graph.right', 'graph.length',
  'graph.open',
];

export interface Settings {
  readonly root: number; // a routine, or kAllThreads
  readonly filter: number | undefined; // percent; undefined: so that thirty functions show
  readonly widths: ArcWidths;
  readonly widthBy: WidthBy;
  readonly left: Datum;
  readonly right: Datum;
  readonly nameLength: number;
  readonly details: Details;
}

function oneOf<T>(choices: readonly T[], value: unknown, otherwise: T): T {
  return choices.find((choice) => `${choice}` === value) ?? otherwise;
}

const kLetters: Record<Detail, string> = { collapsed: 'c', filtered: 'f', all: 'a' };

// "12c.7a": routine 12 collapsed, 7 with all it calls.
function parseDetails(text: string): Details {
  const details = new Map<number, Detail>();
  for (const [, name, letter] of text.matchAll(/(-?\d+)([ca])/g)) {
    details.set(Number(name), letter === 'c' ? 'collapsed' : 'all');
  }
  return details;
}

export function formatDetails(details: Details): string | undefined {
  const words = [...details]
    .filter(([, detail]) => detail !== 'filtered')
    .map(([name, detail]) => `${name}${kLetters[detail]}`);
  return words.length > 0 ? words.join('.') : undefined;
}

export function settingsOf(state: State, routineCount: number): Settings {
  const root = Number(state['graph.root'] ?? NaN);
  const filter = Number(state['graph.filter'] ?? NaN);
  return {
    root: Number.isInteger(root) && root >= 0 && root < routineCount ? root : kAllThreads,
    filter: filter >= 0 ? Math.min(filter, kGreatestFilter) : undefined,
    widths: parseArcWidths(state['graph.widths'] ?? '') ?? { curve: 'adaptive', steps: [] },
    widthBy: oneOf(kWidthBy, state['graph.by'], 'total'),
    left: oneOf(kData, state['graph.left'], 'none'),
    right: oneOf(kData, state['graph.right'], 'total %'),
    nameLength: oneOf(kNameLengths, state['graph.length'], 32),
    details: parseDetails(state['graph.open'] ?? ''),
  };
}

// One step up or down in detail: collapsed, filtered, all.
export function stepped(details: Details, name: number, step: 1 | -1): Details {
  const steps: readonly Detail[] = ['collapsed', 'filtered', 'all'];
  const at = steps.indexOf(details.get(name) ?? 'filtered') + step;
  const next = new Map(details);
  next.set(name, steps[Math.min(2, Math.max(0, at))]);
  return next;
}
