// A row for each routine over all threads, in any measure.
import type { Measure } from './measure.ts';
import type { Profile } from './model.ts';

export interface Routine {
  readonly name: number;
  readonly self: number;
  readonly total: number; // over outermost activations: no routine exceeds the whole
  readonly total2: number; // over all activations
}

// The sums that jtrace-post made itself are exact even if nodes were left out of the page.
function exactColumns(profile: Profile, measure: Measure): [number[], number[], number[]] | null {
  const { flat, range } = profile.data;
  if (range !== undefined) return null;
  switch (measure.id) {
    case 'ticks':
      return [flat.base_ticks, flat.cum_ticks, flat.cum2_ticks];
    case 'time':
      return [flat.base, flat.cum, flat.cum2];
    default:
      return null;
  }
}

// The same from the nodes.
export function sumUp(profile: Profile, measure: Measure, name: number): Routine {
  const routine = { name, self: 0, total: 0, total2: 0 };
  let outermostEnd = 0;
  for (const node of profile.instances(name)) {
    routine.self += measure.self[node];
    routine.total2 += measure.total[node];
    if (node < outermostEnd) continue;
    routine.total += measure.total[node];
    outermostEnd = profile.end[node];
  }
  return routine;
}

export function routinesBy(profile: Profile, measure: Measure): Routine[] {
  const exact = exactColumns(profile, measure);
  return Array.from({ length: profile.routineCount }, (_, name) =>
    exact === null
      ? sumUp(profile, measure, name)
      : { name, self: exact[0][name], total: exact[1][name], total2: exact[2][name] },
  );
}
