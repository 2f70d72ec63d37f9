// A row for each group of threads, and for each thread of those that are unfolded.
import { useMemo } from 'preact/hooks';
import { counted, formatPercent } from '../format.ts';
import { forgetNumbers, toFlame } from '../links.ts';
import { useRow } from '../live/use_chosen.ts';
import type { Profile } from '../model.ts';
import { type Column, formatSorting, parseSorting } from '../table/column.ts';
import { Table } from '../table/table.tsx';
import { isGroup, nameOfRow, type ThreadRow, threadRows, threadsOf, valueOfRow } from '../thread_rows.ts';
import { Share } from '../ui/share.tsx';
import { Twig } from '../ui/twig.tsx';
import type { ThreadsChoice, View, ViewProps } from '../view.ts';

function kindOf(profile: Profile, row: ThreadRow): string {
  const facts = threadsOf(row).map((thread) => profile.data.threads[thread]);
  const folded = facts.reduce((sum, { folded }) => sum + Math.max(folded, 1), 0);
  const words = [];
  if (folded > 1) words.push(counted(folded, 'thread'));
  if (facts[0].virtual) words.push('virtual');
  if (facts[0].daemon) words.push('daemon');
  if (facts[0].vm) words.push('JVM');
  return words.join(', ');
}

function nameColumn({ recorded, unfolded }: ThreadsChoice, toggle: (row: ThreadRow) => void): Column<ThreadRow> {
  return {
    id: 'name',
    title: 'thread',
    width: 'minmax(min(220px, 50vw), 1fr)',
    value: (row) => nameOfRow(recorded, row),
    cell: (row) => {
      const name = nameOfRow(recorded, row);
      const isMember = !isGroup(row) && row.group.threads.length > 1;
      return (
        <span class="tree-name" style={{ paddingLeft: isMember ? '14px' : '0' }}>
          <Twig open={isGroup(row) ? unfolded.has(row.group) : undefined} onToggle={() => toggle(row)} />
          <bdi title={name}>{name}</bdi>
        </span>
      );
    },
  };
}

function columnsFor(choice: ThreadsChoice, toggle: (row: ThreadRow) => void): Column<ThreadRow>[] {
  const { recorded } = choice;
  const tidOf = (row: ThreadRow) => (isGroup(row) ? 0 : recorded.data.threads[row.thread].tid);
  const columns = [nameColumn(choice, toggle)];
  for (const measure of recorded.measures) {
    const value = (row: ThreadRow) => valueOfRow(recorded, measure, row);
    columns.push({
      id: measure.id,
      title: measure.label,
      hint: measure.unit,
      width: '180px',
      value,
      cell: (row) =>
        value(row) === 0 ? (
          ''
        ) : (
          <Share
            part={value(row)}
            whole={measure.whole}
            text={`${measure.format(value(row))} · ${formatPercent(value(row), measure.whole)}`}
          />
        ),
    });
  }
  columns.push(
    {
      id: 'kind',
      title: 'kind',
      width: '170px',
      value: (row) => kindOf(recorded, row),
      cell: (row) => kindOf(recorded, row),
    },
    {
      id: 'tid',
      title: 'tid',
      hint: "the system's number",
      width: '84px',
      value: tidOf,
      cell: (row) => tidOf(row) || '',
    },
  );
  return columns;
}

function keyOf(row: ThreadRow): number {
  return isGroup(row) ? -1 - row.group.number : row.thread;
}

function Threads({ profile, threads, measure, state, search, navigate }: ViewProps) {
  const { recorded, unfolded } = threads;
  const toggle = ({ group }: ThreadRow) =>
    navigate({ ...forgetNumbers(state), threads: unfolded.toggled(group).format() }, true);
  const columns = useMemo(() => columnsFor(threads, toggle), [threads, state]);
  const sorting = parseSorting(state['threads.sort'], measure.id);
  const rows = useMemo(
    () => threadRows(recorded, unfolded, search, columns, sorting),
    [recorded, unfolded, columns, search, sorting.column, sorting.reversed],
  );
  const [selected, setSelected] = useRow(rows, keyOf);
  const onKey = (event: KeyboardEvent, at: number): boolean => {
    const row = rows[at];
    const isOpen = row !== undefined && unfolded.has(row.group);
    if (event.key !== (isOpen ? 'ArrowLeft' : 'ArrowRight') || row === undefined) return false;
    if (row.group.threads.length > 1) {
      toggle(row);
      setSelected(rows.findIndex(({ group }) => group === row.group));
    }
    return true;
  };
  const open = (row: ThreadRow) => {
    if (isGroup(row) && unfolded.has(row.group)) return toggle(row);
    const root = recorded.roots[threadsOf(row)[0]];
    navigate(toFlame(recorded, root));
  };
  return (
    <section class="fill" aria-label="Threads">
      <div class="toolbar">
        <span>
          {counted(recorded.data.threads.length, 'thread')} in {counted(recorded.groups.length, 'group')}
        </span>
        <span class="unit">
          {counted(profile.data.threads.length, 'tree')} in the other views
        </span>
      </div>
      <Table
        label="Threads"
        isTree
        columns={columns}
        rows={rows}
        keyOf={keyOf}
        factsOf={(row) => ({
          level: !isGroup(row) && row.group.threads.length > 1 ? 2 : 1,
          expanded: isGroup(row) ? unfolded.has(row.group) : undefined,
        })}
        sorting={sorting}
        onSort={(next) => navigate({ 'threads.sort': formatSorting(next) }, true)}
        selected={selected}
        onSelect={setSelected}
        onOpen={open}
        onKey={onKey}
      />
      <p class="hint">
        Enter or a double click shows a thread's flame graph. Arrow keys unfold a group: its threads are then
        apart in all views.
      </p>
    </section>
  );
}

export const threadsView: View = {
  id: 'threads',
  title: 'Threads',
  about: 'A row for each thread, and for threads that do the same',
  component: Threads,
};
