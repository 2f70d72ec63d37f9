// The search box: a regular expression over names.
import { Automaton } from './automaton.ts';
import type { Measure } from './measure.ts';
import type { Profile } from './model.ts';

export interface Search {
  readonly text: string;
  readonly error: string; // why the text is not a regular expression; else empty
  readonly active: boolean;
  matches(name: number): boolean; // a routine or thread by its number
  finds(text: string): boolean; // in other names, such as those of files
}

const kLongest = 1000; // of a search
const kMostLetters = 10_000; // of a name
const kMostMilliseconds = 2000;

interface Pattern {
  test(text: string): boolean;
}

// RegExp is the fastest, but may take for ever if choices multiply: groups, and more than one
// repetition.
function patternFor(text: string): Pattern {
  if (text.length > kLongest) throw new Error('The search is too long');
  const pattern = new RegExp(text, 'i');
  const plain = text.replace(/\\./g, '');
  return plain.includes('(') || plain.split(/[*+?{]/).length > 2 ? new Automaton(text) : pattern;
}

export function searchFor(profile: Profile, text: string, milliseconds = kMostMilliseconds): Search {
  const idle = { text, error: '', active: false, matches: () => false, finds: () => false };
  if (text === '') return idle;
  try {
    const pattern = patternFor(text);
    const matching = new Uint8Array(profile.nameCount);
    const end = performance.now() + milliseconds;
    for (let name = 0; name < profile.nameCount; ++name) {
      if (performance.now() > end) throw new Error('The search took too long');
      matching[name] = pattern.test(profile.text(name).slice(0, kMostLetters)) ? 1 : 0;
    }
    return {
      text,
      error: '',
      active: true,
      matches: (name) => matching[name] > 0,
      finds: (other) => pattern.test(other.slice(0, kMostLetters)),
    };
  } catch (error) {
    return { ...idle, error: error instanceof Error ? error.message : String(error) };
  }
}

// The outermost matching nodes: the nodes below them count once.
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
