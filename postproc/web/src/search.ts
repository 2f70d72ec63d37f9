// The search box: a regular expression over names.
import type { Measure } from './measure.ts';
import type { Profile } from './model.ts';

export interface Search {
  readonly text: string;
  readonly error: string; // why the text is no regular expression; else empty
  readonly active: boolean;
  matches(name: number): boolean; // a routine or thread by its number
}

export function searchFor(profile: Profile, text: string): Search {
  const idle = { text, error: '', active: false, matches: () => false };
  if (text === '') return idle;
  try {
    const pattern = new RegExp(text, 'i');
    const known = new Int8Array(profile.nameCount); // 0: not asked yet
    const matches = (name: number) => {
      if (known[name] === 0) known[name] = pattern.test(profile.text(name)) ? 1 : -1;
      return known[name] > 0;
    };
    return { text, error: '', active: true, matches };
  } catch (error) {
    return { ...idle, error: error instanceof Error ? error.message : String(error) };
  }
}

// The outermost matching nodes: what is below them counts once.
export function outermostMatches(profile: Profile, search: Search): number[] {
  const found: number[] = [];
  for (let node = 0; node < profile.nodeCount; ) {
    if (search.matches(profile.name[node])) {
      found.push(node);
      node = profile.end[node];
    } else {
      ++node;
    }
  }
  return found;
}

export interface Matched {
  readonly routines: number;
  readonly value: number; // of the measure, in matching nodes and below
}

export function matchedBy(profile: Profile, measure: Measure, search: Search): Matched {
  let routines = 0;
  for (let name = 0; name < profile.routineCount; ++name) routines += search.matches(name) ? 1 : 0;
  let value = 0;
  for (const node of outermostMatches(profile, search)) value += measure.total[node];
  return { routines, value };
}
