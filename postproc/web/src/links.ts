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

export function toCallersOf(name: number): Patch {
  return { view: 'flame', 'flame.of': 'callers', 'flame.at': `${name}` };
}
