// Links from one view to another, as changes of the state.
import type { Profile } from './model.ts';
import type { Patch, State } from './state.ts';

// A routine by its number.
export function toFunction(name: number): Patch {
  return { view: 'function', fn: `${name}`, 'function.arc': undefined };
}

// A node of the profile.
export function toFlame(profile: Profile, node: number): Patch {
  return { view: 'flame', 'flame.of': undefined, 'flame.at': `${profile.addressOf(node)}` };
}

export function toTree(profile: Profile, node: number): Patch {
  return { view: 'tree', 'tree.at': `${profile.addressOf(node)}` };
}

// State that names nodes and arcs, or threads among callers, by numbers that change if others are
// merged.
export function forgetNumbers(state: State): Patch {
  return {
    'tree.open': undefined,
    'function.arc': undefined,
    'graph.at': undefined,
    ...(state['flame.of'] === 'callers' && { 'flame.at': undefined }),
  };
}

export function toGraph(name: number): Patch {
  return { view: 'graph', 'graph.root': `${name}`, 'graph.filter': undefined };
}

// A line of a file, by its number in Sources.files.
export function toSource({ file, line }: { file: number; line: number }): Patch {
  return { view: 'source', 'source.file': `${file}`, 'source.line': `${line}` };
}

export function toCallersOf(name: number): Patch {
  return { view: 'flame', 'flame.of': 'callers', 'flame.at': `${name}` };
}
