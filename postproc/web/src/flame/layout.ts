// The place of each frame of a flame graph. Frames too narrow to see are not laid out, but counted.
import type { FlameSource } from './source.ts';

export const kNarrowest = 0.5; // pixels

// The frames of one depth, from left to right.
export interface FlameRow {
  readonly node: number[];
  readonly x: number[]; // pixels
  readonly width: number[];
}

export interface FlameLayout {
  readonly rows: FlameRow[];
  readonly zoomDepth: number; // rows above are the zoomed frame's callers, as wide as the picture
  readonly notDrawn: number;
}

function emptyRow(): FlameRow {
  return { node: [], x: [], width: [] };
}

export function layOut(source: FlameSource, zoom: number, width: number): FlameLayout {
  const rows: FlameRow[] = [];
  let notDrawn = 0;
  const place = (depth: number, node: number, x: number, size: number) => {
    const row = (rows[depth] ??= emptyRow());
    row.node.push(node);
    row.x.push(x);
    row.width.push(size);
  };
  const callers: number[] = [];
  for (let node = source.parent(zoom); node >= 0; node = source.parent(node)) callers.push(node);
  callers.reverse().forEach((node, depth) => place(depth, node, 0, width));
  const zoomDepth = callers.length;
  const whole = source.value(zoom);
  const scale = whole > 0 ? width / whole : 0;
  // Children are pushed in reverse, so that each depth fills from left to right.
  const pending: { node: number; depth: number; x: number; size: number }[] = [
    { node: zoom, depth: zoomDepth, x: 0, size: width },
  ];
  while (pending.length > 0) {
    const { node, depth, x, size } = pending.pop()!;
    place(depth, node, x, size);
    let at = x;
    const wide = [];
    for (const child of source.children(node)) {
      const childSize = source.value(child) * scale;
      if (childSize >= kNarrowest) {
        wide.push({ node: child, depth: depth + 1, x: at, size: childSize });
      } else {
        notDrawn += source.size(child);
      }
      at += childSize;
    }
    for (let i = wide.length - 1; i >= 0; --i) pending.push(wide[i]);
  }
  return { rows, zoomDepth, notDrawn };
}

// The frame at that place, or -1.
export function frameAt(layout: FlameLayout, depth: number, x: number): number {
  const row = layout.rows[depth];
  if (row === undefined) return -1;
  let low = 0;
  let high = row.x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row.x[middle] <= x) low = middle + 1;
    else high = middle;
  }
  const found = low - 1;
  return found >= 0 && x < row.x[found] + Math.max(row.width[found], 1) ? row.node[found] : -1;
}

// The place of a frame, if it is laid out.
export function placeOf(
  layout: FlameLayout,
  node: number,
): { depth: number; x: number; width: number } | undefined {
  for (let depth = 0; depth < layout.rows.length; ++depth) {
    const i = layout.rows[depth].node.indexOf(node);
    if (i >= 0) return { depth, x: layout.rows[depth].x[i], width: layout.rows[depth].width[i] };
  }
  return undefined;
}
