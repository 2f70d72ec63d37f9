// The routines of one trace or of two: how many there are, a row for each, and the way to one's callers and callees.
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { counted, formatCount } from '../format.ts';
import { toFunction } from '../links.ts';
import type { Measure } from '../measure.ts';
import type { Search } from '../search.ts';
import type { ViewProps } from '../view.ts';
import { type Column, formatSorting, type Sorting, sorted } from './column.ts';
import { Table } from './table.tsx';

interface Named {
  readonly name: number;
}

// The rows that the search finds, in their order.
export function useFound<Row extends Named>(
  all: readonly Row[],
  search: Search,
  columns: readonly Column<Row>[],
  sorting: Sorting,
): Row[] {
  return useMemo(() => {
    const found = search.active ? all.filter((row) => search.matches(row.name)) : all;
    return sorted(found, columns, sorting);
  }, [all, columns, search, sorting.column, sorting.reversed]);
}

interface RoutineTableProps<Row> extends Pick<ViewProps, 'search' | 'navigate'> {
  columns: Column<Row>[];
  rows: Row[]; // of useFound
  of: number; // routines in all
  measure: Pick<Measure, 'label' | 'unit'>;
  sorting: Sorting;
  selected: number;
  onSelect(row: number): void;
  hint: string; // what Enter shows
  children?: ComponentChildren; // more of the toolbar
}

export function RoutineTable<Row extends Named>(props: RoutineTableProps<Row>) {
  const { columns, rows, search, measure, sorting, selected, onSelect, navigate } = props;
  return (
    <section class="fill" aria-label="Routines">
      <div class="toolbar">
        <span>
          {formatCount(rows.length)} of {counted(props.of, 'routine')}
          {search.active ? ' match' : ''}
        </span>
        {props.children}
        <span class="unit">
          {measure.label}: {measure.unit}
        </span>
      </div>
      <Table
        label="Routines"
        {...{ columns, rows, sorting, selected, onSelect }}
        keyOf={(row) => row.name}
        onSort={(next) => navigate({ 'flat.sort': formatSorting(next) }, true)}
        onOpen={(row) => navigate(toFunction(row.name))}
      />
      <p class="hint">Enter or a double click shows {props.hint}.</p>
    </section>
  );
}
