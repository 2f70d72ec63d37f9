// The list of source files, with how much of each ran.
import { useMemo } from 'preact/hooks';
import type { SourceFile } from '../data.ts';
import { counted, formatCount, formatPercent, formatTicks } from '../format.ts';
import { useRow } from '../live/use_chosen.ts';
import type { Profile } from '../model.ts';
import { type Column, formatSorting, parseSorting, sorted } from '../table/column.ts';
import { Table } from '../table/table.tsx';
import { Share } from '../ui/share.tsx';
import type { ViewProps } from '../view.ts';

interface Row {
  readonly file: SourceFile;
  readonly index: number; // in Sources.files
}

function covered(id: string, title: string, of: (file: SourceFile) => [number, number]): Column<Row> {
  return {
    id,
    title,
    hint: `${title} that ran; sorted by their share`,
    width: '180px',
    value: ({ file }) => {
      const [part, whole] = of(file);
      return whole === 0 ? -1 : part / whole;
    },
    cell: ({ file }) => {
      const [part, whole] = of(file);
      if (whole === 0) return '';
      const text = `${formatPercent(part, whole)} · ${formatCount(part)} of ${formatCount(whole)}`;
      return part === 0 ? text : <Share part={part} whole={whole} text={text} />;
    },
  };
}

function columnsFor(profile: Profile): Column<Row>[] {
  const { tick_ns } = profile.data;
  const columns: Column<Row>[] = [
    {
      id: 'path',
      title: 'file',
      width: 'minmax(300px, 1fr)',
      value: ({ file }) => file.path,
      cell: ({ file }) => (
        <bdi class="name" dir="ltr" title={file.path}>
          {file.path === '' ? <span class="faint">[unknown file]</span> : file.path}
        </bdi>
      ),
    },
    covered('lines', 'lines', (file) => [file.lines_run, file.lines]),
    covered('branches', 'branches', (file) => [file.branches_taken, file.branches]),
    {
      id: 'instructions',
      title: 'bytecodes',
      hint: 'bytecode instructions executed',
      width: '140px',
      value: ({ file }) => file.instructions,
      cell: ({ file }) => (file.instructions === 0 ? '' : formatCount(file.instructions)),
    },
  ];
  if (profile.sources.data.files.some(({ ticks }) => ticks !== 0)) {
    columns.push({
      id: 'self',
      title: 'self samples',
      hint: 'samples that interrupted one of its lines',
      width: '110px',
      value: ({ file }) => file.ticks,
      cell: ({ file }) => (file.ticks === 0 ? '' : formatTicks(file.ticks, tick_ns)),
    });
  }
  return columns;
}

export function SourceFiles({ profile, state, search, navigate }: ViewProps) {
  const { files, without_lines, without_text } = profile.sources.data;
  const columns = useMemo(() => columnsFor(profile), [profile]);
  const sorting = parseSorting(state['source.sort'], 'instructions');
  const rows = useMemo(() => {
    const all = files.map((file, index) => ({ file, index }));
    const found = search.active ? all.filter(({ file }) => search.finds(file.path)) : all;
    return sorted(found, columns, sorting);
  }, [files, columns, search, sorting.column, sorting.reversed]);
  const [selected, setSelected] = useRow(rows, (row) => row.index);
  const sum = (of: (file: SourceFile) => number) => files.reduce((total, file) => total + of(file), 0);
  const run = sum((file) => file.lines_run);
  const lines = sum((file) => file.lines);
  return (
    <section class="fill" aria-label="Source files">
      <div class="toolbar">
        <span data-coverage={run}>
          {formatCount(rows.length)} of {counted(files.length, 'file')} ·{' '}
          {formatCount(run)} of {counted(lines, 'line')} ran ({formatPercent(run, lines)})
        </span>
        <span class="unit">exact counts of lines (blocks=on)</span>
      </div>
      <Table
        label="Source files"
        columns={columns}
        rows={rows}
        keyOf={(row) => row.index}
        factsOf={(row) => ({ dim: row.file.number === undefined })}
        sorting={sorting}
        onSort={(next) => navigate({ 'source.sort': formatSorting(next) }, true)}
        selected={selected}
        onSelect={setSelected}
        onOpen={(row) => navigate({ 'source.file': `${row.index}`, 'source.line': undefined })}
      />
      <p class="hint">
        Enter or a double click shows the lines of a file. Faint files have none here: nothing of
        them ran{without_lines > 0 && `, or there was no room (${counted(without_lines, 'file')})`}.
        {without_text > 0 &&
          ` ${counted(without_text, 'file')} that ran less than others have counts without text: the page holds 4 MB of it.`}
      </p>
    </section>
  );
}
