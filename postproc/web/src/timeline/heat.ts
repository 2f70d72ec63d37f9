// The heatmap's cells: columns of time, rows of the time within a column, upwards. No DOM here.
import type { Heat } from '../data.ts';

export const kCellHeight = 4; // pixels
export const kMargins = { left: 58, right: 12, top: 30, bottom: 26 };

export interface HeatLayout {
  readonly heat: Heat;
  readonly columns: number;
  readonly cellWidth: number; // pixels
  readonly height: number; // of the picture
  readonly most: number; // ticks of a cell
}

export function layHeat(heat: Heat, width: number): HeatLayout {
  const columns = Math.ceil(heat.ticks.length / heat.rows);
  const room = Math.max(0, width - kMargins.left - kMargins.right);
  return {
    heat,
    columns,
    cellWidth: room / columns,
    height: kMargins.top + heat.rows * kCellHeight + kMargins.bottom,
    most: heat.ticks.reduce((most, each) => Math.max(most, each), 0),
  };
}

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

// Edges are whole pixels, so that neighbours leave no gap.
export function boxOf({ heat, cellWidth }: HeatLayout, cell: number): Box {
  const column = Math.floor(cell / heat.rows);
  const x = Math.round(kMargins.left + column * cellWidth);
  const end = Math.round(kMargins.left + (column + 1) * cellWidth);
  const y = kMargins.top + (heat.rows - 1 - (cell % heat.rows)) * kCellHeight;
  return { x, y, width: Math.max(end - x, 1), height: kCellHeight };
}

// Under that place; outside the picture the nearest, or -1 unless `isDrag`.
export function cellAt({ heat, columns, cellWidth }: HeatLayout, x: number, y: number, isDrag = false): number {
  const column = Math.floor((x - kMargins.left) / cellWidth);
  const row = heat.rows - 1 - Math.floor((y - kMargins.top) / kCellHeight);
  const inside = column >= 0 && column < columns && row >= 0 && row < heat.rows;
  if (!inside && !isDrag) return -1;
  const within = (value: number, end: number) => Math.min(Math.max(value, 0), end - 1);
  return within(within(column, columns) * heat.rows + within(row, heat.rows), heat.ticks.length);
}

// Where a key of the keyboard leads; undefined: nowhere.
export function stepFrom({ rows, ticks }: Heat, cell: number, key: string): number | undefined {
  const steps: Record<string, number> = { ArrowUp: 1, ArrowDown: -1, ArrowRight: rows, ArrowLeft: -rows };
  const last = ticks.length - 1;
  if (key === 'Home') return 0;
  if (key === 'End') return last;
  return steps[key] === undefined ? undefined : Math.min(Math.max(cell + steps[key], 0), last);
}

export function hottest({ ticks }: Heat): number {
  return ticks.reduce((best, each, i) => (each > ticks[best] ? i : best), 0);
}

// Of both and those between, in time: from the first one's begin to the last one's end.
export function spanOf({ width }: Heat, one: number, other: number): readonly [begin: number, end: number] {
  return [Math.min(one, other) * width, (Math.max(one, other) + 1) * width];
}
