// How far a profile can be trusted: invariants, how samples matched, what was lost.
import type { Loss, PageData } from './data.ts';
import { counted, formatCount, formatPercent } from './format.ts';

export type Tone = 'good' | 'fair' | 'bad';

export interface Badge {
  readonly id: string;
  readonly text: string;
  readonly tone: Tone;
  readonly about: string;
}

export const kInvariants = 4;
const kFairShare = 0.99; // of the samples placed

export function invariantBadge(data: PageData): Badge {
  const held = data.invariants.broken.filter((count) => count === 0).length;
  return {
    id: 'invariants',
    text: `${held} of ${kInvariants} invariants hold`,
    tone: held === kInvariants ? 'good' : 'bad',
    about:
      `Over ${formatCount(data.invariants.stanzas)} routines: what callers and callees add up to ` +
      'is what the routine itself has.',
  };
}

export interface MergePart {
  readonly label: string;
  readonly count: number;
  readonly tone: Tone | 'plain';
  readonly about: string;
}

// With --merge=embed or none no sample is matched with events; with chain each sample that could be
// matched is either placed or unmatched.
function placingWasRequested({ merge }: PageData): boolean {
  const placeable = merge.samples - merge.without_events - merge.without_frames;
  return merge.placed + merge.unmatched > 0 || placeable <= 0;
}

// The samples and unwinds by their result: each in one part.
export function mergeParts(data: PageData): MergePart[] {
  const { merge } = data;
  const parts: MergePart[] = [
    { label: 'placed', count: merge.placed, tone: 'good', about: 'on the path that events show' },
    { label: 'unmatched', count: merge.unmatched, tone: 'bad', about: 'under [unmatched]: no frame matched the open activations' },
    { label: 'without frames', count: merge.without_frames, tone: 'fair', about: 'the stack could not be walked' },
  ];
  const others = parts.reduce((rest, { count }) => rest - count, merge.samples + merge.unwinds);
  if (!placingWasRequested(data)) {
    parts.push({ label: 'not placed', count: others, tone: 'plain', about: 'placing was not requested (--merge=embed or none)' });
  } else if (merge.unwinds > 0) {
    parts.push({ label: 'others', count: others, tone: 'plain', about: 'stacks beside the samples, and samples of threads in which no counted method was open' });
  } else {
    parts.push({ label: 'without events', count: others, tone: 'plain', about: 'of threads in which no counted method was open' });
  }
  return parts.filter((part) => part.count > 0);
}

// Samples with frames whose stack has a marker such as [truncated].
export function markedSamples({ merge }: PageData): number {
  return Math.max(merge.samples - merge.without_frames - merge.whole, 0);
}

export function lostCount(losses: readonly Loss[]): number {
  return losses.reduce((sum, loss) => sum + (loss.severity === 'info' ? 0 : loss.count), 0);
}

export function mergeBadge(data: PageData): Badge | undefined {
  const { merge } = data;
  if (merge.samples === 0) return undefined;
  const withEvents = merge.samples - merge.without_events;
  if (withEvents <= 0) {
    return {
      id: 'merge',
      text: `${counted(merge.samples, 'sample')}, no events to place them on`,
      tone: 'fair',
      about: 'No counted method was open where the samples were taken.',
    };
  }
  if (!placingWasRequested(data)) {
    return {
      id: 'merge',
      text: `${counted(merge.samples, 'sample')}, not placed among the events`,
      tone: 'fair',
      about: 'Placing was not requested (--merge=embed or none).',
    };
  }
  const share = merge.placed / withEvents;
  return {
    id: 'merge',
    text: `${formatPercent(merge.placed, withEvents)} of samples placed`,
    tone: share >= kFairShare ? 'good' : share > 0.9 ? 'fair' : 'bad',
    about:
      `${formatCount(merge.placed)} of ${formatCount(withEvents)} samples with events matched the ` +
      `counted tree; ${formatCount(markedSamples(data))} have a cut stack, ` +
      `${formatCount(merge.unmatched)} are unmatched.`,
  };
}

export function lossBadge(data: PageData): Badge {
  const worst = data.losses.some((loss) => loss.severity === 'error')
    ? 'bad'
    : data.losses.some((loss) => loss.severity === 'warning')
      ? 'fair'
      : 'good';
  const count = lostCount(data.losses);
  return {
    id: 'losses',
    text: worst === 'good' ? 'nothing lost' : `${formatCount(count)} lost`,
    tone: worst,
    about: data.losses.length === 0 ? 'No loss was reported.' : 'The list with advice is below.',
  };
}

export function badgesOf(data: PageData): Badge[] {
  const merge = mergeBadge(data);
  return [invariantBadge(data), ...(merge === undefined ? [] : [merge]), lossBadge(data)];
}
