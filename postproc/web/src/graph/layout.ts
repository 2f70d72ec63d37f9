// A layered drawing, from the top down as rivers flow: rows, order, places, and the arcs' paths
// between the boxes. Arcs meet a box side by side, like tributaries. Numbers only, no DOM.
import { type Items, makeItems } from './chains.ts';
import { type Layers, layersOf, type Link, roomOf } from './layers.ts';
import { orderRows } from './order.ts';
import { type Box, bowReach, kPortGap, pathsOf } from './paths.ts';
import { placeItems } from './place.ts';

export interface BoxSize {
  readonly width: number;
  readonly height: number;
}

export interface Layout {
  readonly boxes: readonly Box[];
  readonly paths: readonly string[]; // of SVG, by link
  readonly up: readonly boolean[]; // by link: drawn as a bow, against the stream
  readonly width: number;
  readonly height: number;
}

const kMargin = 24;
const kLoopRoom = 12; // above the first row
const kRowGap = 34; // at least; more if arcs go far aside
const kMostGap = 110;

// The boxes' widths with room for the arcs that meet them.
function widthsOf(sizes: readonly BoxSize[], links: readonly Link[], layers: Layers): number[] {
  const out = new Float64Array(sizes.length);
  const into = new Float64Array(sizes.length);
  links.forEach((link, i) => {
    if (layers.up[i]) return;
    out[link.from] += roomOf(link) + kPortGap;
    into[link.to] += roomOf(link) + kPortGap;
  });
  return sizes.map((size, i) => Math.max(size.width, out[i] + 10, into[i] + 10));
}

function topsOf(
  items: Items,
  order: readonly number[][],
  x: Float64Array,
  heights: readonly number[],
): number[] {
  const tops = [kMargin + kLoopRoom];
  for (let row = 0; row + 1 < order.length; ++row) {
    let aside = 0;
    for (const item of order[row]) {
      for (const lower of items.below[item]) aside = Math.max(aside, Math.abs(x[lower] - x[item]));
    }
    tops.push(tops[row] + heights[row] + Math.min(kMostGap, kRowGap + aside / 7));
  }
  return tops;
}

// The extent of everything to the left and to the right.
function reachOf(
  items: Items,
  x: Float64Array,
  boxes: readonly Box[],
  links: readonly Link[],
  layers: Layers,
): [number, number] {
  let least = Infinity;
  let most = -Infinity;
  for (let item = 0; item < items.count; ++item) {
    least = Math.min(least, x[item] - items.width[item] / 2);
    most = Math.max(most, x[item] + items.width[item] / 2);
  }
  links.forEach(({ from, to }, i) => {
    if (!layers.up[i] || from === to) return;
    const { far } = bowReach(boxes[from], boxes[to]);
    least = Math.min(least, far);
    most = Math.max(most, far);
  });
  return [least, most];
}

export function layOut(sizes: readonly BoxSize[], links: readonly Link[]): Layout {
  const layers = layersOf(sizes.length, links);
  const widths = widthsOf(sizes, links, layers);
  const items = makeItems(widths, links, layers);
  const order = orderRows(items, layers.rows);
  const x = placeItems(items, order);
  const heights = order.map((row) =>
    row.reduce((most, item) => (items.isBend(item) ? most : Math.max(most, sizes[item].height)), 0),
  );
  const tops = topsOf(items, order, x, heights);
  const boxAt = ({ height }: BoxSize, i: number): Box => {
    const row = layers.row[i];
    return { x: x[i] - widths[i] / 2, y: tops[row] + (heights[row] - height) / 2, width: widths[i], height };
  };
  const [least, most] = reachOf(items, x, sizes.map(boxAt), links, layers);
  for (let item = 0; item < items.count; ++item) x[item] += kMargin - least;
  const boxes = sizes.map(boxAt);
  const last = order.length - 1;
  return {
    boxes,
    paths: pathsOf({ items, x, tops, heights, boxes }, links),
    up: layers.up,
    width: most - least + 2 * kMargin,
    height: tops[last] + (heights[last] ?? 0) + kMargin,
  };
}
