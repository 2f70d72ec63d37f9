// The lines of a file with their counts.
import { useMemo } from 'preact/hooks';
import type { SourceFile } from '../data.ts';
import { formatCount, formatPercent, formatTicks } from '../format.ts';
import type { Profile } from '../model.ts';
import { type ListedLine, markWords } from '../sources.ts';
import { type Column, formatSorting, parseSorting, sorted } from '../table/column.ts';
import { Table } from '../table/table.tsx';
import { Share } from '../ui/share.tsx';
import type { ViewProps } from '../view.ts';

// The number beside the counts.
export type LineValue = 'self' | 'bytecodes' | 'cycles';
export const kLineValues: readonly LineValue[] = ['self', 'bytecodes', 'cycles'];

const kWhole = 10_000; // of SourceFile.shares

export function markOf(file: SourceFile, { at }: ListedLine): string {
  return at < 0 ? ' ' : file.marks![at];
}

function columnsFor(profile: Profile, file: SourceFile, value: LineValue): Column<ListedLine>[] {
  const values = file[value] ?? [];
  const whole = Math.max(0, ...values);
  const shares = file.shares?.[value] ?? [];
  const format = (number: number) =>
    value === 'self' ? formatTicks(number, profile.data.tick_ns) : formatCount(number);
  const columns: Column<ListedLine>[] = [
    {
      id: 'count',
      title: 'count',
      hint: 'how often the line was reached; exact',
      width: '116px',
      value: ({ at }) => (at < 0 ? -1 : file.count![at]),
      cell: ({ at }) => (at < 0 ? '' : formatCount(file.count![at])),
    },
    {
      id: value,
      title: value === 'self' ? 'self samples' : value,
      hint: value === 'self' ? 'samples that interrupted the line' : 'of the line, exact',
      width: '110px',
      value: ({ at }) => (at < 0 ? 0 : values[at]),
      cell: ({ at }) =>
        at < 0 || values[at] === 0 ? '' : <Share part={values[at]} whole={whole} text={format(values[at])} />,
    },
    {
      id: 'percent',
      title: '%',
      hint: `share of the method's own ${value === 'self' ? 'samples' : value}`,
      width: '64px',
      value: ({ at }) => (at < 0 ? -1 : shares[at]),
      cell: ({ at }) => (at < 0 || shares[at] <= 0 ? '' : formatPercent(shares[at], kWhole)),
    },
    {
      id: 'mark',
      title: '',
      hint: '| it ran, + it has several blocks and some ran, # it never ran',
      width: '14px',
      value: (line) => markOf(file, line),
      cell: (line) => {
        const mark = markOf(file, line);
        return (
          <b class={`line-mark ${mark === '#' ? 'never' : ''}`} title={markWords(mark)}>
            {mark}
          </b>
        );
      },
    },
    {
      id: 'line',
      title: 'line',
      width: '52px',
      // In the order of the file: lesser numbers first.
      value: ({ number }) => -number,
      cell: ({ number }) => number,
    },
    {
      id: 'text',
      title: 'source',
      width: 'minmax(420px, 1fr)',
      value: ({ text }) => text,
      cell: ({ text }) => (
        <bdi class="code" dir="ltr" title={text}>
          {text}
        </bdi>
      ),
    },
    {
      id: 'branches',
      title: 'branches',
      hint: 'outcomes of its conditions that occurred, of all',
      width: '72px',
      value: ({ at }) => (at < 0 ? 0 : file.outcomes![at] - file.taken![at]),
      cell: ({ at }) => {
        if (at < 0 || file.outcomes![at] === 0) return '';
        const all = file.taken![at] === file.outcomes![at];
        return <span class={all ? '' : 'partly'}>{`${file.taken![at]}/${file.outcomes![at]}`}</span>;
      },
    },
  ];
  return columns;
}

interface ListingProps extends ViewProps {
  file: SourceFile;
  lines: readonly ListedLine[];
  value: LineValue;
  selected: number; // a line's number
  onSelect(line: number): void;
}

export function Listing({ profile, file, lines, value, selected, state, onSelect, navigate }: ListingProps) {
  const columns = useMemo(() => columnsFor(profile, file, value), [profile, file, value]);
  const sorting = parseSorting(state['source.by'], 'line');
  const rows = useMemo(
    () => sorted(lines, columns, sorting),
    [lines, columns, sorting.column, sorting.reversed],
  );
  return (
    <Table
      label="Lines"
      columns={columns}
      rows={rows}
      keyOf={(line) => line.number}
      factsOf={(line) => ({ never: markOf(file, line) === '#' })}
      sorting={sorting}
      onSort={(next) => navigate({ 'source.by': formatSorting(next) }, true)}
      selected={rows.findIndex((line) => line.number === selected)}
      onSelect={(at) => onSelect(rows[at].number)}
    />
  );
}
