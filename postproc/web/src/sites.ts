// The places from which methods call (sites=on), and a profile without them. No DOM here.
import type { NodeColumns } from './data.ts';
import { type Merged, mergeNodes, unchanged } from './merged_nodes.ts';

// Of a place as data.ts has it: ":120" for a line, "@17" for a bytecode index, "" if it is unknown.
export function placeText(place: number): string {
  if (place === 0) return '';
  return `${place % 2 === 0 ? ':' : '@'}${place >> 1}`;
}

// The calls of all places together, as jtrace-post shows them with --sites=off.
export function withoutPlaces(nodes: NodeColumns): Merged {
  const fateOf = unchanged(nodes);
  return mergeNodes(nodes, false, (old) => ({ ...fateOf(old), place: 0 }));
}
