// The order of items in their rows, with few crossings: sweeps down and up sort each row by the
// places of its neighbours; the best order found is used.
import type { Items } from './chains.ts';

const kSweeps = 24;
const kPatience = 6; // sweeps without a better order

// Keeps connected items together: depth first, in the order of the neighbours.
function firstOrder(items: Items, rows: number): number[][] {
  const order: number[][] = Array.from({ length: rows }, () => []);
  const seen = new Uint8Array(items.count);
  for (let start = 0; start < items.count; ++start) {
    const pending = [start];
    while (pending.length > 0) {
      const item = pending.pop()!;
      if (seen[item] === 1) continue;
      seen[item] = 1;
      order[items.rowOf[item]].push(item);
      for (let i = items.below[item].length - 1; i >= 0; --i) pending.push(items.below[item][i]);
    }
  }
  return order;
}

function placesOf(order: readonly number[][], count: number): Float64Array {
  const place = new Float64Array(count);
  for (const row of order) row.forEach((item, i) => (place[item] = i));
  return place;
}

// Pairs of arcs between two rows that cross: inversions, counted with a Fenwick tree.
function crossingsBelow(items: Items, row: readonly number[], place: Float64Array, sums: Int32Array): number {
  sums.fill(0);
  let crossings = 0;
  let seen = 0;
  for (const item of row) {
    const lower = items.below[item];
    for (const each of lower) {
      let notAfter = 0;
      for (let i = place[each] + 1; i > 0; i -= i & -i) notAfter += sums[i];
      crossings += seen - notAfter;
    }
    seen += lower.length;
    for (const each of lower) for (let i = place[each] + 1; i < sums.length; i += i & -i) ++sums[i];
  }
  return crossings;
}

export function countCrossings(items: Items, order: readonly number[][]): number {
  const place = placesOf(order, items.count);
  let sum = 0;
  for (let row = 0; row + 1 < order.length; ++row) {
    sum += crossingsBelow(items, order[row], place, new Int32Array(order[row + 1].length + 1));
  }
  return sum;
}

function sortRow(
  row: number[],
  neighbours: readonly number[][],
  place: Float64Array,
  wish: Float64Array,
): void {
  for (const item of row) {
    const near = neighbours[item];
    let sum = 0;
    for (const each of near) sum += place[each];
    wish[item] = near.length > 0 ? sum / near.length : place[item];
  }
  row.sort((a, b) => wish[a] - wish[b] || place[a] - place[b]);
  for (let i = 0; i < row.length; ++i) place[row[i]] = i;
}

export function orderRows(items: Items, rows: number): number[][] {
  const order = firstOrder(items, rows);
  let best = order.map((row) => [...row]);
  let fewest = countCrossings(items, best);
  const place = placesOf(order, items.count);
  const wish = new Float64Array(items.count);
  let idle = 0;
  for (let sweep = 0; sweep < kSweeps && fewest > 0 && idle < kPatience; ++sweep) {
    if (sweep % 2 === 0) {
      for (let row = 1; row < rows; ++row) sortRow(order[row], items.above, place, wish);
    } else {
      for (let row = rows - 2; row >= 0; --row) sortRow(order[row], items.below, place, wish);
    }
    const crossings = countCrossings(items, order);
    ++idle;
    if (crossings >= fewest) continue;
    idle = 0;
    fewest = crossings;
    best = order.map((each) => [...each]);
  }
  return best;
}
