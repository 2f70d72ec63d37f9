// A row for each thread.
import { useMemo, useState } from 'preact/hooks';
import { counted, formatCount, formatPercent } from '../format.ts';
import { toFlame } from '../links.ts';
import type { Profile } from '../model.ts';
import { type Column, formatSorting, parseSorting, sorted } from '../table/column.ts';
import { Table } from '../table/table.tsx';
import { Share } from '../ui/share.tsx';
import type { View, ViewProps } from '../view.ts';

function kindOf(profile: Profile, thread: number): string {
  const facts = profile.data.threads[thread];
  const words = [];
  if (facts.folded > 0) words.push(counted(facts.folded, 'thread'));
  if (facts.virtual) words.push('virtual');
  if (facts.daemon) words.push('daemon');
  if (facts.vm) words.push('JVM');
  return words.join(', ');
}

function columnsFor(profile: Profile): Column<number>[] {
  const { threads } = profile.data;
  const columns: Column<number>[] = [
    {
      id: 'name',
      title: 'thread',
      width: 'minmax(220px, 1fr)',
      value: (thread) => threads[thread].name,
      cell: (thread) => <bdi title={threads[thread].name}>{threads[thread].name}</bdi>,
    },
    {
      id: 'kind',
      title: 'kind',
      width: '120px',
      value: (thread) => kindOf(profile, thread),
      cell: (thread) => kindOf(profile, thread),
    },
    {
      id: 'tid',
      title: 'tid',
      hint: "the system's number",
      width: '84px',
      value: (thread) => threads[thread].tid,
      cell: (thread) => threads[thread].tid || '',
    },
  ];
  for (const measure of profile.measures) {
    const value = (thread: number) => measure.total[profile.roots[thread]];
    columns.push({
      id: measure.id,
      title: measure.label,
      hint: measure.unit,
      width: '180px',
      value,
      cell: (thread) =>
        value(thread) === 0 ? (
          ''
        ) : (
          <Share
            part={value(thread)}
            whole={measure.whole}
            text={`${measure.format(value(thread))} · ${formatPercent(value(thread), measure.whole)}`}
          />
        ),
    });
  }
  return columns;
}

function Threads({ profile, measure, state, search, navigate }: ViewProps) {
  const [selected, setSelected] = useState(-1);
  const columns = useMemo(() => columnsFor(profile), [profile]);
  const sorting = parseSorting(state['threads.sort'], measure.id);
  const rows = useMemo(() => {
    const all = profile.data.threads.map((_, thread) => thread);
    const found = search.active
      ? all.filter((thread) => search.matches(profile.routineCount + thread))
      : all;
    return sorted(found, columns, sorting);
  }, [profile, columns, search, sorting.column, sorting.reversed]);
  return (
    <section class="fill" aria-label="Threads">
      <div class="toolbar">
        <span>
          {formatCount(rows.length)} of {counted(profile.data.threads.length, 'thread')}
        </span>
      </div>
      <Table
        label="Threads"
        columns={columns}
        rows={rows}
        keyOf={(thread) => thread}
        sorting={sorting}
        onSort={(next) => navigate({ 'threads.sort': formatSorting(next) }, true)}
        selected={selected}
        onSelect={setSelected}
        onOpen={(thread) => navigate(toFlame(profile.roots[thread]))}
      />
      <p class="hint">Enter or a double click shows a thread's flame graph.</p>
    </section>
  );
}

export const threadsView: View = {
  id: 'threads',
  title: 'Threads',
  about: 'A row for each thread',
  component: Threads,
};
