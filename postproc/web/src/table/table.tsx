// A table of any length: only the rows in sight are in the document.
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { LiveContext } from '../live/context.ts';
import { useSize } from '../ui/use_size.ts';
import { type Column, clicked, type Sorting } from './column.ts';

const kRowHeight = 26;
const kSpareRows = 6; // above and below those in sight

interface RowFacts {
  readonly level?: number; // of a tree, from 1
  readonly expanded?: boolean;
  readonly dim?: boolean;
  readonly marked?: boolean; // the search found it
  readonly never?: boolean; // a line that never ran
}

interface TableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): number;
  factsOf?(row: Row): RowFacts;
  sorting: Sorting;
  onSort(sorting: Sorting): void;
  selected: number; // a row's index; -1: none
  onSelect(index: number): void;
  onOpen?(row: Row): void; // Enter and double click
  onKey?(event: KeyboardEvent, index: number): boolean; // true: handled
  isTree?: boolean;
}

function HeadCell<Row>({ column, numeric, sorting, onSort }: {
  column: Column<Row>;
  numeric: boolean;
  sorting: Sorting;
  onSort(sorting: Sorting): void;
}) {
  const isSorted = sorting.column === column.id;
  const order = sorting.reversed ? 'ascending' : 'descending';
  return (
    <div
      role="columnheader"
      class={numeric ? 'number' : 'text'}
      aria-sort={isSorted ? order : 'none'}
      title={column.hint}
    >
      <button
        type="button"
        aria-label={column.title === '' ? column.id : undefined}
        onClick={() => onSort(clicked(sorting, column.id))}
      >
        {column.title}
        {isSorted && <span aria-hidden="true">{sorting.reversed ? ' ▴' : ' ▾'}</span>}
      </button>
    </div>
  );
}

function Cell<Row>({ column, row }: { column: Column<Row>; row: Row }) {
  const value = column.value(row);
  return (
    <div
      role="gridcell"
      class={typeof value === 'number' ? 'number' : 'text'}
      data-column={column.id}
      data-value={value}
    >
      {column.cell(row)}
    </div>
  );
}

// The row that a key leads to, or -1.
function rowForKey(key: string, selected: number, count: number, page: number): number {
  const last = count - 1;
  switch (key) {
    case 'ArrowDown':
      return Math.min(selected + 1, last);
    case 'ArrowUp':
      return Math.max(selected - 1, 0);
    case 'PageDown':
      return Math.min(selected + page, last);
    case 'PageUp':
      return Math.max(selected - page, 0);
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return -1;
  }
}

export function Table<Row>(props: TableProps<Row>) {
  const { columns, rows, selected } = props;
  const [box, size] = useSize<HTMLDivElement>();
  const [scroll, setScroll] = useState(0);
  const template = columns.map((column) => column.width).join(' ');
  const first = Math.max(0, Math.floor(scroll / kRowHeight) - kSpareRows);
  const inSight = Math.ceil(size.height / kRowHeight);
  const last = Math.min(rows.length, first + inSight + 2 * kSpareRows);
  const id = (index: number) => `row-${props.label.replace(/\W/g, '-')}-${index}`;

  const isLive = useContext(LiveContext);
  const chosen = rows[selected];
  const { column, reversed } = props.sorting;
  const key = chosen === undefined ? '' : `${props.keyOf(chosen)} ${column} ${reversed}`;
  // The head covers one row. A row that a link leads to comes into the middle.
  const isNew = useRef(true);
  useLayoutEffect(() => {
    const view = box.current!;
    if (selected < 0) return;
    const top = selected * kRowHeight;
    const isFar = Math.abs(top - view.scrollTop) > 2 * view.clientHeight;
    if (isNew.current || isFar) view.scrollTop = top - view.clientHeight / 2;
    isNew.current = false;
    if (top < view.scrollTop) view.scrollTop = top;
    const bottom = top + 2 * kRowHeight;
    if (bottom > view.scrollTop + view.clientHeight) view.scrollTop = bottom - view.clientHeight;
  }, [isLive ? key : selected]);
  useEffect(() => {
    if (box.current!.scrollTop > rows.length * kRowHeight) box.current!.scrollTop = 0;
  }, [rows]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey || rows.length === 0) return;
    const next = rowForKey(event.key, selected, rows.length, Math.max(inSight - 2, 1));
    if (next >= 0) props.onSelect(next);
    else if (event.key === 'Enter' && selected >= 0) props.onOpen?.(rows[selected]);
    else if (!props.onKey?.(event, selected)) return;
    event.preventDefault();
  };
  return (
    <div
      class="table"
      role={props.isTree ? 'treegrid' : 'grid'}
      aria-label={props.label}
      aria-rowcount={rows.length + 1}
      aria-activedescendant={selected >= first && selected < last ? id(selected) : undefined}
      tabIndex={0}
      ref={box}
      onScroll={(event) => setScroll(event.currentTarget.scrollTop)}
      onKeyDown={onKeyDown}
    >
      <div class="table-head" role="row" style={{ gridTemplateColumns: template }}>
        {columns.map((column) => (
          <HeadCell
            key={column.id}
            column={column}
            numeric={rows.length > 0 && typeof column.value(rows[0]) === 'number'}
            sorting={props.sorting}
            onSort={props.onSort}
          />
        ))}
      </div>
      <div class="table-body" role="rowgroup" style={{ height: `${rows.length * kRowHeight}px` }}>
        {rows.slice(first, last).map((row, i) => {
          const index = first + i;
          const facts = props.factsOf?.(row) ?? {};
          return (
            <div
              key={props.keyOf(row)}
              id={id(index)}
              role="row"
              aria-rowindex={index + 2}
              aria-level={facts.level}
              aria-expanded={facts.expanded}
              aria-selected={index === selected}
              class={`${facts.dim ? 'dim' : ''} ${facts.marked ? 'marked' : ''} ${facts.never ? 'never' : ''}`}
              style={{ gridTemplateColumns: template, top: `${index * kRowHeight}px` }}
              onClick={() => props.onSelect(index)}
              onDblClick={() => props.onOpen?.(row)}
            >
              {columns.map((column) => (
                <Cell key={column.id} column={column} row={row} />
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}
