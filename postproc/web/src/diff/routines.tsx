// A row for each routine with its numbers before and after.
import { useMemo, useState } from 'preact/hooks';
import { formatCount } from '../format.ts';
import { type Column, parseSorting } from '../table/column.ts';
import { RoutineTable, useFound } from '../table/routine_table.tsx';
import { KindDot } from '../ui/kind_dot.tsx';
import { Name } from '../ui/name.tsx';
import { deltaOf, kStateWords } from './change.ts';
import type { Comparison, DiffMeasure } from './model.ts';
import { Delta } from './parts.tsx';
import { deltaIn, type Pair, type RoutineChange, routineChanges } from './rows.ts';
import type { DiffView, DiffViewProps } from './view.ts';

type Numbers = Pick<RoutineChange, 'self' | 'total' | 'calls'>;

// Three columns: before, after, and the difference.
function columnsOf(
  comparison: Comparison,
  measure: DiffMeasure,
  of: keyof Numbers,
  title: string,
  hint: string,
): Column<RoutineChange>[] {
  const isCalls = of === 'calls';
  const format = isCalls ? formatCount : measure.format;
  const side = (which: keyof Pair): Column<RoutineChange> => ({
    id: `${of}_${which}`,
    title: `${title} ${which}`,
    hint,
    width: isCalls ? '88px' : '87px',
    value: (row) => row[of][which],
    cell: (row) => (row[of][which] === 0 ? '' : format(row[of][which])),
  });
  const delta: Column<RoutineChange> = {
    id: of,
    title: `${title} change`,
    hint: `${hint}: after less before`,
    width: isCalls ? '92px' : '160px',
    value: (row) => deltaIn(row[of]),
    cell: (row) =>
      isCalls ? (
        deltaIn(row.calls) === 0 ? '' : deltaOf({ format: formatCount }, row.calls.before, row.calls.after)
      ) : (
        <Delta comparison={comparison} measure={measure} pair={row[of]} />
      ),
  };
  return [side('before'), side('after'), delta];
}

function columnsFor(comparison: Comparison, measure: DiffMeasure): Column<RoutineChange>[] {
  const { after } = comparison;
  return [
    {
      id: 'name',
      title: 'routine',
      width: 'minmax(min(220px, 50vw), 1fr)',
      value: (row) => after.text(row.name),
      cell: (row) => (
        <>
          <KindDot kind={after.kind(row.name)} />
          <Name name={after.text(row.name)} />
        </>
      ),
    },
    ...columnsOf(comparison, measure, 'self', 'self', `${measure.unit}, without what it calls`),
    ...columnsOf(comparison, measure, 'total', 'total', `${measure.unit}, with what it calls`),
    ...(measure.id === 'calls' ? [] : columnsOf(comparison, measure, 'calls', 'calls', 'calls, exact')),
    {
      id: 'state',
      title: 'state',
      hint: 'changed: its calls, or its samples by more than chance, or its time by 1 % of all',
      width: '78px',
      value: (row) => kStateWords[row.state],
      cell: (row) => <span class={row.state === 's' ? 'faint' : ''}>{kStateWords[row.state]}</span>,
    },
  ];
}

function Routines({ comparison, measure, state, search, navigate }: DiffViewProps) {
  const [selected, setSelected] = useState(-1);
  const columns = useMemo(() => columnsFor(comparison, measure), [comparison, measure]);
  const all = useMemo(() => routineChanges(comparison, measure), [comparison, measure]);
  const sorting = parseSorting(state['flat.sort'], 'self');
  const rows = useFound(all, search, columns, sorting);
  return (
    <RoutineTable
      {...{ columns, rows, search, measure, sorting, selected, navigate }}
      of={all.length}
      onSelect={setSelected}
      hint="a routine's callers and callees, before and after"
    />
  );
}

export const flatView: DiffView = {
  id: 'flat',
  title: 'Routines',
  about: 'A row for each routine, before and after',
  component: Routines,
};
