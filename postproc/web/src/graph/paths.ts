// The arcs as SVG paths: streams that flow down, bows that lead back up.
import type { Items } from './chains.ts';
import { type Link, roomOf } from './layers.ts';

export interface Box {
  readonly x: number; // left
  readonly y: number; // top
  readonly width: number;
  readonly height: number;
}

// The places of the rows and of everything in them.
export interface Placed {
  readonly items: Items;
  readonly x: Float64Array; // middles of items
  readonly tops: readonly number[]; // of rows
  readonly heights: readonly number[];
  readonly boxes: readonly Box[];
}

export const kPortGap = 1.5; // between arcs that meet a box

const round = (value: number) => Math.round(value * 10) / 10;

interface Port {
  readonly link: number;
  readonly width: number;
  readonly towards: number; // where the other end is
}

// The points where a box's links meet its edge, as distances from the box's middle.
function portsOf(ports: readonly Port[]): Map<number, number> {
  const sorted = [...ports].sort((a, b) => a.towards - b.towards || a.link - b.link);
  const sum = sorted.reduce((total, port) => total + port.width + kPortGap, -kPortGap);
  const places = new Map<number, number>();
  let at = -sum / 2;
  for (const { link, width } of sorted) {
    places.set(link, at + width / 2);
    at += width + kPortGap;
  }
  return places;
}

// A bow over the top of a box that leads to itself.
function loopPath(box: Box): string {
  const right = box.x + box.width - 14;
  const left = Math.max(box.x + 14, right - 60);
  const y = round(box.y);
  const top = round(box.y - 15);
  return `M${round(right)},${y}C${round(right + 4)},${top} ${round(left - 4)},${top} ${round(left)},${y}`;
}

// The side on which a bow leads from a caller back up to its callee, and how far out it bends.
export function bowReach(from: Box, to: Box): { side: 1 | -1; far: number } {
  const side = from.x + from.width / 2 >= to.x + to.width / 2 ? 1 : -1;
  const reach = 30 + Math.min(120, Math.abs(from.y - to.y) / 3);
  const far =
    side > 0
      ? Math.max(from.x + from.width, to.x + to.width) + reach
      : Math.min(from.x, to.x) - reach;
  return { side, far };
}

// A bow beside the boxes, from the caller's side back to the callee's.
function bowPath(from: Box, to: Box): string {
  const { side, far } = bowReach(from, to);
  const edge = (box: Box) => round(side > 0 ? box.x + box.width : box.x);
  const middle = (box: Box) => round(box.y + box.height / 2);
  const [y1, y2] = [middle(from), middle(to)];
  return `M${edge(from)},${y1}C${round(far)},${y1} ${round(far)},${y2} ${edge(to)},${y2}`;
}

// The middle of a path's first curve.
export function middleOf(path: string): [number, number] {
  const [x0, y0, x1, y1, x2, y2, x3, y3] = path.match(/-?[\d.]+/g)!.map(Number);
  return [round((x0 + 3 * x1 + 3 * x2 + x3) / 8), round((y0 + 3 * y1 + 3 * y2 + y3) / 8)];
}

// Down from row to row, vertical where it passes one.
function streamPath(placed: Placed, chain: readonly number[], out: number, into: number): string {
  const { items, x, tops, heights, boxes } = placed;
  const [from, to] = [chain[0], chain[chain.length - 1]];
  let atX = round(x[from] + out);
  let atY = boxes[from].y + boxes[from].height;
  let path = `M${atX},${round(atY)}`;
  for (const item of chain.slice(1)) {
    const row = items.rowOf[item];
    const nextX = round(item === to ? x[to] + into : x[item]);
    const nextY = item === to ? boxes[to].y : tops[row];
    const middle = round((atY + nextY) / 2);
    path += `C${atX},${middle} ${nextX},${middle} ${nextX},${round(nextY)}`;
    atX = nextX;
    atY = tops[row] + heights[row];
    if (item !== to) path += `V${round(atY)}`;
  }
  return path;
}

// By link.
export function pathsOf(placed: Placed, links: readonly Link[]): string[] {
  const { items, x, boxes } = placed;
  const leaving = boxes.map((): Port[] => []);
  const arriving = boxes.map((): Port[] => []);
  items.chains.forEach((chain, link) => {
    if (chain === null) return;
    const { from, to } = links[link];
    const width = roomOf(links[link]);
    leaving[from].push({ link, width, towards: x[chain[1]] });
    arriving[to].push({ link, width, towards: x[chain[chain.length - 2]] });
  });
  const out = leaving.map(portsOf);
  const into = arriving.map(portsOf);
  return links.map(({ from, to }, link) => {
    const chain = items.chains[link];
    if (chain !== null) return streamPath(placed, chain, out[from].get(link)!, into[to].get(link)!);
    return from === to ? loopPath(boxes[from]) : bowPath(boxes[from], boxes[to]);
  });
}
