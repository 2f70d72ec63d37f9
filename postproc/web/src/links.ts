// Links from one view to another, as changes of the state.
import type { Patch } from './state.ts';

// A routine by its number.
export function toFunction(name: number): Patch {
  return { view: 'function', fn: `${name}`, 'function.arc': undefined };
}

// A node of the profile.
export function toFlame(node: number): Patch {
  return { view: 'flame', 'flame.of': undefined, 'flame.at': `${node}` };
}

export function toTree(node: number): Patch {
  return { view: 'tree', 'tree.at': `${node}` };
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
