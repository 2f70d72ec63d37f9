// A table's columns.
import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  readonly id: string; // its name in the URL
  readonly title: string;
  readonly hint?: string;
  readonly width: string; // of a CSS grid
  // The sort key; numbers are on the right, greatest first.
  value(row: Row): number | string;
  cell(row: Row): ComponentChildren;
}

export interface Sorting {
  readonly column: string;
  readonly reversed: boolean;
}

// "total" or "-total": the column's own order, or the other way round.
export function parseSorting(text: string | undefined, usual: string): Sorting {
  const word = text ?? usual;
  return word.startsWith('-')
    ? { column: word.slice(1), reversed: true }
    : { column: word, reversed: false };
}

export function formatSorting({ column, reversed }: Sorting): string {
  return (reversed ? '-' : '') + column;
}

// The sort order after a click on a column's head.
export function clicked(sorting: Sorting, column: string): Sorting {
  return { column, reversed: sorting.column === column && !sorting.reversed };
}

// Below 0 if `a` is first: greater numbers, then lesser texts.
export function compareBy<Row>(column: Column<Row>, a: Row, b: Row): number {
  const x = column.value(a);
  const y = column.value(b);
  if (typeof x === 'number' && typeof y === 'number') return y - x;
  return x < y ? -1 : x > y ? 1 : 0;
}

export function sorted<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sorting: Sorting,
): Row[] {
  const column = columns.find((each) => each.id === sorting.column) ?? columns[0];
  const sign = sorting.reversed ? -1 : 1;
  return rows.slice().sort((a, b) => sign * compareBy(column, a, b));
}
