// The places of items in their rows: each as near as possible to its neighbours, without overlap.
import type { Items } from './chains.ts';

const kGap = 18; // between boxes
const kBendGap = 3;
const kRounds = 16;
const kRoundsOfMany = 8;
const kMany = 5000; // items

// The positions nearest to the wishes, by weighted squares, that keep the order and the distances:
// isotonic regression, by pooling neighbours that are out of order.
export function nearestInOrder(
  wishes: readonly number[],
  weights: readonly number[],
  distances: readonly number[], // between i and i + 1
): number[] {
  interface Pool {
    sum: number;
    weight: number;
    count: number;
  }
  const offsets = [0];
  for (let i = 0; i + 1 < wishes.length; ++i) offsets.push(offsets[i] + distances[i]);
  const pools: Pool[] = [];
  wishes.forEach((wish, i) => {
    let pool = { sum: (wish - offsets[i]) * weights[i], weight: weights[i], count: 1 };
    while (pools.length > 0) {
      const last = pools[pools.length - 1];
      if (last.sum / last.weight <= pool.sum / pool.weight) break;
      pools.pop();
      pool = {
        sum: last.sum + pool.sum,
        weight: last.weight + pool.weight,
        count: last.count + pool.count,
      };
    }
    pools.push(pool);
  });
  const places: number[] = [];
  for (const { sum, weight, count } of pools) {
    for (let i = 0; i < count; ++i) places.push(sum / weight + offsets[places.length]);
  }
  return places;
}

function distancesOf(items: Items, row: readonly number[]): number[] {
  const distances: number[] = [];
  for (let i = 0; i + 1 < row.length; ++i) {
    const [a, b] = [row[i], row[i + 1]];
    const gap = items.isBend(a) && items.isBend(b) ? kBendGap : kGap;
    distances.push((items.width[a] + items.width[b]) / 2 + gap);
  }
  return distances;
}

// The middles of all items.
export function placeItems(items: Items, order: readonly number[][]): Float64Array {
  const x = new Float64Array(items.count);
  const distances = order.map((row) => distancesOf(items, row));
  order.forEach((row, r) => {
    let at = 0;
    row.forEach((item, i) => {
      x[item] = at;
      at += distances[r][i] ?? 0;
    });
    for (const item of row) x[item] -= at / 2;
  });
  const settle = (r: number, up: boolean, down: boolean) => {
    const row = order[r];
    const wishes: number[] = [];
    const weights: number[] = [];
    for (const item of row) {
      let sum = 0;
      let weight = 0;
      const pull = (others: readonly number[], strengths: readonly number[]) => {
        for (let i = 0; i < others.length; ++i) {
          sum += strengths[i] * x[others[i]];
          weight += strengths[i];
        }
      };
      if (up) pull(items.above[item], items.pullAbove[item]);
      if (down) pull(items.below[item], items.pullBelow[item]);
      wishes.push(weight > 0 ? sum / weight : x[item]);
      weights.push(weight > 0 ? weight : 0.01);
    }
    nearestInOrder(wishes, weights, distances[r]).forEach((place, i) => (x[row[i]] = place));
  };
  const rounds = items.count > kMany ? kRoundsOfMany : kRounds;
  for (let round = 0; round < rounds; ++round) {
    const last = round >= rounds - 4;
    for (let r = 1; r < order.length; ++r) settle(r, true, last);
    for (let r = order.length - 2; r >= 0; --r) settle(r, last, true);
  }
  return x;
}
