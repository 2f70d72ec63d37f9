// The addresses of a profile's nodes (Profile.addressOf) in a live page, where nodes change their
// numbers with each refresh: made of the recording and of the names on a node's path. So another
// recording's address names no node, and none must be remembered.
import type { PageData } from '../data.ts';

export interface Addresses {
  readonly of: Float64Array; // by node
  readonly at: ReadonlyMap<number, number>; // by address: the node
  // What views chose by themselves and keep, by address (Profile.kept).
  readonly kept: Map<string, readonly number[]>;
}

// 53 bits (cyrb53, in the public domain).
function hashOf(text: string): number {
  let low = 0xdeadbeef;
  let high = 0x41c6ce57;
  for (let i = 0; i < text.length; ++i) {
    const code = text.charCodeAt(i);
    low = Math.imul(low ^ code, 2654435761);
    high = Math.imul(high ^ code, 1597334677);
  }
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  return 4294967296 * (2097151 & high) + (low >>> 0);
}

// `threads`: a name for each that no other has.
export function addressesOf({ nodes, routines }: PageData, recording: string, threads: readonly string[]): Omit<Addresses, 'kept'> {
  const of = new Float64Array(nodes.level.length);
  const at = new Map<number, number>();
  const names = routines.map(hashOf);
  const path: number[] = []; // addresses of the last node of each level
  for (let node = 0; node < of.length; ++node) {
    const level = nodes.level[node];
    const name = nodes.name[node];
    // Numbers of threads begin where those of routines end; nodes left out have none.
    const word =
      level === 0
        ? `${recording}\n${threads[name - routines.length]}`
        : `${path[level - 1]} ${name < 0 ? name : names[name]} ${nodes.place?.[node] ?? 0}`;
    let address = hashOf(word);
    // Nodes that stay apart from siblings of their name (--merge=none).
    while (at.has(address)) address = hashOf(`${address}`);
    of[node] = path[level] = address;
    at.set(address, node);
  }
  return { of, at };
}
