// Links that span several rows as chains of items, one for each row, so that they have reserved
// room.
import { type Layers, type Link, roomOf } from './layers.ts';

export interface Items {
  readonly count: number; // the boxes first, then bends
  readonly width: Float64Array;
  readonly rowOf: Int32Array;
  readonly isBend: (item: number) => boolean;
  readonly above: number[][]; // neighbours in the row above, and below
  readonly below: number[][];
  readonly pullAbove: number[][]; // how strongly these attract, in the same order
  readonly pullBelow: number[][];
  readonly chains: (number[] | null)[]; // by link: its items from above down; null: points up
}

const kBendRoom = 4; // pixels beside an arc

export function makeItems(widths: readonly number[], links: readonly Link[], layers: Layers): Items {
  const width = [...widths];
  const rowOf = [...layers.row];
  const chains = links.map((link, i) => {
    if (layers.up[i]) return null;
    const chain = [link.from];
    for (let row = layers.row[link.from] + 1; row < layers.row[link.to]; ++row) {
      chain.push(width.length);
      // Its text is above the first bend.
      width.push((chain.length === 2 ? roomOf(link) : link.width) + kBendRoom);
      rowOf.push(row);
    }
    chain.push(link.to);
    return chain;
  });
  const count = width.length;
  const isBend = (item: number) => item >= widths.length;
  const above: number[][] = Array.from({ length: count }, () => []);
  const below: number[][] = Array.from({ length: count }, () => []);
  const pullAbove: number[][] = Array.from({ length: count }, () => []);
  const pullBelow: number[][] = Array.from({ length: count }, () => []);
  chains.forEach((chain, i) => {
    for (let k = 0; chain !== null && k + 1 < chain.length; ++k) {
      const [upper, lower] = [chain[k], chain[k + 1]];
      below[upper].push(lower);
      above[lower].push(upper);
      // Long and wide arcs should be straight.
      const straight = isBend(upper) && isBend(lower) ? 8 : isBend(upper) || isBend(lower) ? 2 : 1;
      pullBelow[upper].push(straight * links[i].width);
      pullAbove[lower].push(straight * links[i].width);
    }
  });
  return {
    count,
    width: Float64Array.from(width),
    rowOf: Int32Array.from(rowOf),
    isBend,
    above,
    below,
    pullAbove,
    pullBelow,
    chains,
  };
}
