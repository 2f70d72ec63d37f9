// Moves from frame to frame by keys.
import type { Search } from '../search.ts';
import type { FlameLayout } from './layout.ts';
import { placeOf } from './layout.ts';
import type { FlameSource } from './source.ts';

// The frame that an arrow key leads to; `inwards` and `outwards` are away from and to the root.
export type Step = 'inwards' | 'outwards' | 'left' | 'right';

// Of an arrow key.
export function stepOf(key: string, upwards: boolean): Step | undefined {
  switch (key) {
    case 'ArrowDown':
      return upwards ? 'outwards' : 'inwards';
    case 'ArrowUp':
      return upwards ? 'inwards' : 'outwards';
    case 'ArrowLeft':
      return 'left';
    case 'ArrowRight':
      return 'right';
    default:
      return undefined;
  }
}

export function stepFrom(
  source: FlameSource,
  layout: FlameLayout,
  from: number,
  step: Step,
): number {
  const place = placeOf(layout, from);
  if (place === undefined) return layout.rows[layout.zoomDepth]?.node[0] ?? 0;
  if (step === 'outwards') return Math.max(source.parent(from), 0);
  if (step === 'inwards') {
    const below = layout.rows[place.depth + 1];
    const first = below?.node.find((node) => source.parent(node) === from);
    return first ?? from;
  }
  const row = layout.rows[place.depth].node;
  return row[row.indexOf(from) + (step === 'right' ? 1 : -1)] ?? from;
}

// The drawn frames that match, from the root inwards and from left to right.
export function drawnMatches(source: FlameSource, layout: FlameLayout, search: Search): number[] {
  if (!search.active) return [];
  return layout.rows.flatMap((row) =>
    row.node.filter((node) => node > 0 && search.matches(source.name(node))),
  );
}

// The match after (before) one; -1 if there is none.
export function nextMatch(matches: readonly number[], from: number, backwards: boolean): number {
  if (matches.length === 0) return -1;
  const at = matches.indexOf(from);
  if (at < 0) return backwards ? matches[matches.length - 1] : matches[0];
  return matches[(at + (backwards ? -1 : 1) + matches.length) % matches.length];
}

// What a key does in a flame graph with `selected` as chosen frame: arrows choose another, Enter and Space zoom.
export function onFrameKey(
  event: KeyboardEvent,
  { source, layout, selected, upwards }: { source: FlameSource; layout: FlameLayout; selected: number; upwards: boolean },
  select: (frame: number) => void,
  zoomTo: (frame: number) => void,
): void {
  const step = stepOf(event.key, upwards);
  if (step !== undefined) select(stepFrom(source, layout, selected, step));
  else if ((event.key === 'Enter' || event.key === ' ') && selected >= 0) zoomTo(selected);
  else return;
  event.preventDefault();
}
