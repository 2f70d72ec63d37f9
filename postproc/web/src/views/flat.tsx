// A row for each routine.
import { useMemo } from 'preact/hooks';
import { formatCount, formatPercent, formatTime } from '../format.ts';
import { useRow } from '../live/use_chosen.ts';
import type { Measure } from '../measure.ts';
import type { Profile } from '../model.ts';
import { type Routine, routinesBy } from '../routines.ts';
import { type Column, parseSorting } from '../table/column.ts';
import { RoutineTable, useFound } from '../table/routine_table.tsx';
import { KindDot } from '../ui/kind_dot.tsx';
import { Name } from '../ui/name.tsx';
import { Share } from '../ui/share.tsx';
import { SourceButton } from '../ui/source_button.tsx';
import type { View, ViewProps } from '../view.ts';

function number(
  id: string,
  title: string,
  hint: string,
  value: (row: Routine) => number,
  format: (value: number) => string,
  width = '104px',
): Column<Routine> {
  return {
    id,
    title,
    hint,
    width,
    value,
    cell: (row) => (value(row) === 0 ? '' : format(value(row))),
  };
}

function columnsFor(profile: Profile, measure: Measure): Column<Routine>[] {
  const { flat, ns_per_unit: ns } = profile.data;
  const time = (value: number) => formatTime(value, ns);
  const hasTime = profile.measures.some((each) => each.id === 'time');
  const columns: Column<Routine>[] = [
    {
      id: 'name',
      title: 'routine',
      width: 'minmax(min(320px, 50vw), 1fr)',
      value: (row) => profile.text(row.name),
      cell: (row) => (
        <>
          <KindDot kind={profile.kind(row.name)} />
          <Name name={profile.text(row.name)} />
        </>
      ),
    },
    {
      id: 'total',
      title: `total ${measure.label}`,
      hint: `${measure.unit}, with what it calls; recursive activations count once`,
      width: '170px',
      value: (row) => row.total,
      cell: (row) => (
        <Share part={row.total} whole={measure.whole} text={`${measure.format(row.total)} · ${formatPercent(row.total, measure.whole)}`} />
      ),
    },
    {
      id: 'self',
      title: `self ${measure.label}`,
      hint: `${measure.unit}, without what it calls`,
      width: '170px',
      value: (row) => row.self,
      cell: (row) => (
        <Share part={row.self} whole={measure.whole} text={`${measure.format(row.self)} · ${formatPercent(row.self, measure.whole)}`} />
      ),
    },
    number('calls', 'calls', 'exact', (row) => flat.calls[row.name], formatCount, '118px'),
  ];
  if (flat.calls_jitted.some((value) => value > 0)) {
    columns.push({
      id: 'jitted',
      title: 'compiled',
      hint: 'share of the calls that ran compiled',
      width: '84px',
      value: (row) => flat.calls_jitted[row.name],
      cell: (row) =>
        flat.calls[row.name] > 0 && flat.calls_jitted[row.name] > 0
          ? formatPercent(flat.calls_jitted[row.name], flat.calls[row.name])
          : '',
    });
  }
  if (hasTime) {
    columns.push(
      number('min', 'least self', 'self time of one call, at least', (row) => flat.min[row.name] ?? 0, time),
      number('max', 'most self', 'self time of one call, at most', (row) => flat.max[row.name] ?? 0, time),
    );
  }
  return columns;
}

function Flat({ profile, measure, state, search, navigate }: ViewProps) {
  const columns = useMemo(() => columnsFor(profile, measure), [profile, measure]);
  const all = useMemo(() => routinesBy(profile, measure), [profile, measure]);
  const sorting = parseSorting(state['flat.sort'], 'total');
  const rows = useFound(all, search, columns, sorting);
  const [selected, setSelected] = useRow(rows, (row) => row.name);
  return (
    <RoutineTable
      {...{ columns, rows, search, measure, sorting, selected, navigate }}
      of={all.length}
      onSelect={setSelected}
      hint="a routine's callers and callees"
    >
      {rows[selected] !== undefined && (
        <SourceButton {...{ profile, navigate, name: rows[selected].name }} />
      )}
    </RoutineTable>
  );
}

export const flatView: View = {
  id: 'flat',
  title: 'Routines',
  about: 'A row for each routine, whoever called it',
  component: Flat,
};
