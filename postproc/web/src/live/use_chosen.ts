// What is chosen in a view, also after a refresh has given it another number.
import { useState } from 'preact/hooks';
import type { FlameSource } from '../flame/source.ts';
import type { Profile } from '../model.ts';

// A node; -1: none.
export function useNode(profile: Profile): [number, (node: number) => void] {
  const [address, setAddress] = useState(-1);
  return [address < 0 ? -1 : profile.nodeAt(address), (node) => setAddress(node < 0 ? -1 : profile.addressOf(node))];
}

// A frame of a flame graph; -1: none.
export function useFrame(source: FlameSource): [number, (frame: number) => void] {
  const [address, setAddress] = useState<string>();
  const frame = address === undefined ? -1 : source.locate(address);
  return [frame, (next) => setAddress(next < 0 ? undefined : source.address(next))];
}

// The index of a table's row; -1: none.
export function useRow<Row>(rows: readonly Row[], keyOf: (row: Row) => number): [number, (index: number) => void] {
  const [key, setKey] = useState<number>();
  const index = key === undefined ? -1 : rows.findIndex((row) => keyOf(row) === key);
  return [index, (next) => setKey(rows[next] === undefined ? undefined : keyOf(rows[next]))];
}
