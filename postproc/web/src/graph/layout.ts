// A layered drawing, from above down as rivers flow: rows, order, places, and the arcs' ways between
// the boxes. Arcs meet a box side by side, like tributaries. Numbers only, no DOM.
import { makeItems } from './chains.ts';
import { layersOf, type Link } from './layers.ts';
import { orderRows } from './order.ts';
import { placeItems } from './place.ts';

export interface BoxSize {
  readonly width: number;
  readonly height: number;
}

export interface Box extends BoxSize {
  readonly x: number; // left
  readonly y: number; // top
}

export interface Layout {
  readonly boxes: readonly Box[];
  readonly paths: readonly string[]; // of SVG, by link
  readonly up: readonly boolean[]; // by link: drawn as a bow, against the stream
  readonly width: number;
  readonly height: number;
}

const kMargin = 24;
const kRowGap = 34; // at least; more where arcs go far aside
const kMostGap = 110;
const kPortGap = 1.5; // between arcs that meet a box

const round = (value: number) => Math.round(value * 10) / 10;

// Where each of a box's links meets its edge, as distances from the box's middle.
function portsOf(links: readonly { index: number; width: number; other: number }[]): Map<number, number> {
  const sorted = [...links].sort((a, b) => a.other - b.other || a.index - b.index);
  const sum = sorted.reduce((total, link) => total + link.width + kPortGap, -kPortGap);
  const ports = new Map<number, number>();
  let at = -sum / 2;
  for (const link of sorted) {
    ports.set(link.index, at + link.width / 2);
    at += link.width + kPortGap;
  }
  return ports;
}

// A bow over the top of a box that leads to itself.
function loopPath(box: Box): string {
  const right = box.x + box.width - 14;
  const left = Math.max(box.x + 14, right - 60);
  const rise = box.y - 15;
  return `M${round(right)},${round(box.y)}C${round(right + 4)},${round(rise)} ${round(left - 4)},${round(rise)} ${round(left)},${round(box.y)}`;
}

// A bow beside the boxes, from the caller's side back to the callee's.
function bowPath(from: Box, to: Box): string {
  const side = from.x + from.width / 2 >= to.x + to.width / 2 ? 1 : -1;
  const edge = (box: Box) => (side > 0 ? box.x + box.width : box.x);
  const [x1, x2] = [edge(from), edge(to)];
  const [y1, y2] = [from.y + from.height / 2, to.y + to.height / 2];
  const reach = 30 + Math.min(120, Math.abs(y1 - y2) / 3);
  const far = side > 0 ? Math.max(x1, x2) + reach : Math.min(x1, x2) - reach;
  return `M${round(x1)},${round(y1)}C${round(far)},${round(y1)} ${round(far)},${round(y2)} ${round(x2)},${round(y2)}`;
}

export function layOut(sizes: readonly BoxSize[], links: readonly Link[]): Layout {
  const layers = layersOf(sizes.length, links);
  // Room for the arcs that meet a box.
  const out = new Float64Array(sizes.length);
  const into = new Float64Array(sizes.length);
  links.forEach((link, i) => {
    if (layers.up[i]) return;
    out[link.from] += link.width + kPortGap;
    into[link.to] += link.width + kPortGap;
  });
  const widths = sizes.map((size, i) => Math.max(size.width, out[i] + 10, into[i] + 10));
  const items = makeItems(widths, links, layers);
  const order = orderRows(items, layers.rows);
  const x = placeItems(items, order);
  let least = Infinity;
  let most = -Infinity;
  for (let item = 0; item < items.count; ++item) {
    least = Math.min(least, x[item] - items.width[item] / 2);
    most = Math.max(most, x[item] + items.width[item] / 2);
  }
  for (let item = 0; item < items.count; ++item) x[item] += kMargin - least;

  const heights = order.map((row) =>
    row.reduce((height, item) => (items.isBend(item) ? height : Math.max(height, sizes[item].height)), 0),
  );
  const tops = [kMargin + 12];
  for (let r = 0; r + 1 < order.length; ++r) {
    let aside = 0;
    for (const item of order[r]) {
      for (const lower of items.below[item]) aside = Math.max(aside, Math.abs(x[lower] - x[item]));
    }
    const gap = Math.min(kMostGap, kRowGap + aside / 7);
    tops.push(tops[r] + heights[r] + gap);
  }
  const boxes = sizes.map((size, i): Box => {
    const r = layers.row[i];
    return {
      x: x[i] - widths[i] / 2,
      y: tops[r] + (heights[r] - size.height) / 2,
      width: widths[i],
      height: size.height,
    };
  });

  const leaving = sizes.map((): { index: number; width: number; other: number }[] => []);
  const arriving = sizes.map((): { index: number; width: number; other: number }[] => []);
  items.chains.forEach((chain, index) => {
    if (chain === null) return;
    const { from, to, width } = links[index];
    leaving[from].push({ index, width, other: x[chain[1]] });
    arriving[to].push({ index, width, other: x[chain[chain.length - 2]] });
  });
  const outPorts = leaving.map(portsOf);
  const inPorts = arriving.map(portsOf);
  const paths = links.map(({ from, to }, index) => {
    const chain = items.chains[index];
    if (chain === null) return from === to ? loopPath(boxes[from]) : bowPath(boxes[from], boxes[to]);
    let px = x[from] + outPorts[from].get(index)!;
    let py = boxes[from].y + boxes[from].height;
    let path = `M${round(px)},${round(py)}`;
    for (const item of chain.slice(1)) {
      const r = items.rowOf[item];
      const bend = items.isBend(item);
      const nx = bend ? x[item] : x[item] + inPorts[to].get(index)!;
      const ny = bend ? tops[r] : boxes[to].y;
      const middle = (py + ny) / 2;
      path += `C${round(px)},${round(middle)} ${round(nx)},${round(middle)} ${round(nx)},${round(ny)}`;
      if (bend) path += `V${round(tops[r] + heights[r])}`;
      px = nx;
      py = bend ? tops[r] + heights[r] : ny;
    }
    return path;
  });
  const last = order.length - 1;
  return {
    boxes,
    paths,
    up: layers.up,
    width: most - least + 2 * kMargin,
    height: (tops[last] ?? 0) + (heights[last] ?? 0) + kMargin,
  };
}
