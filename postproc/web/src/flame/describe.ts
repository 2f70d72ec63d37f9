// The text about a frame of a flame graph, in either direction of its tree.
import { type Fact, measureFacts, nodeFacts, originLabel } from '../facts.ts';
import { formatPercent } from '../format.ts';
import type { Measure } from '../measure.ts';
import type { Profile } from '../model.ts';
import { CallTreeSource, type FlameSource } from './source.ts';

export interface Description {
  readonly title: string;
  readonly note: string | undefined;
  readonly facts: readonly Fact[];
}

export function describe(
  profile: Profile,
  measure: Measure,
  source: FlameSource,
  frame: number,
): Description {
  const value = source.value(frame);
  const share: Fact = [
    measure.label,
    `${measure.format(value)} · ${formatPercent(value, measure.whole)} of all`,
  ];
  if (frame === 0) return { title: source.rootLabel, note: undefined, facts: [share] };
  const node = source.profileNode(frame);
  const name = profile.text(source.name(frame));
  const line = source.after(frame);
  const calls: Fact[] = line === '' ? [] : [['calls from', `${name}${line}`]];
  return {
    title: name,
    note: originLabel(profile, node),
    facts:
      source instanceof CallTreeSource
        ? [...measureFacts(profile, measure, node), ...nodeFacts(profile, node)]
        : [share, ...calls],
  };
}
