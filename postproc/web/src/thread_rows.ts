// The rows of the table of threads: groups, and threads below those that are unfolded. No DOM here.
import type { Measure } from './measure.ts';
import type { Profile } from './model.ts';
import type { Search } from './search.ts';
import { type Column, compareBy, type Sorting } from './table/column.ts';
import type { ThreadGroup, Unfolded } from './thread_groups.ts';

export interface ThreadRow {
  readonly group: ThreadGroup;
  readonly thread: number; // -1: all threads of the group
}

export function isGroup({ thread }: ThreadRow): boolean {
  return thread < 0;
}
export function nameOfRow(recorded: Profile, { group, thread }: ThreadRow): string {
  return thread < 0 ? group.name : recorded.data.threads[thread].name;
}
export function threadsOf({ group, thread }: ThreadRow): readonly number[] {
  return thread < 0 ? group.threads : [thread];
}
export function valueOfRow(recorded: Profile, measure: Measure, row: ThreadRow): number {
  return threadsOf(row).reduce((sum, thread) => sum + measure.total[recorded.roots[thread]], 0);
}

export function threadRows(
  recorded: Profile,
  unfolded: Unfolded,
  search: Search,
  columns: readonly Column<ThreadRow>[],
  sorting: Sorting,
): ThreadRow[] {
  const column = columns.find((each) => each.id === sorting.column) ?? columns[0];
  const sign = sorting.reversed ? -1 : 1;
  const sort = (rows: ThreadRow[]) => rows.sort((a, b) => sign * compareBy(column, a, b));
  const isFound = (row: ThreadRow) => !search.active || search.finds(nameOfRow(recorded, row));
  const rows: ThreadRow[] = [];
  const tops = recorded.groups.map((group) => ({
    group,
    thread: group.threads.length > 1 ? -1 : group.number,
  }));
  for (const row of sort(tops)) {
    const members = isGroup(row) ? row.group.threads.map((thread) => ({ ...row, thread })) : [];
    const found = isFound(row) ? members : members.filter(isFound);
    if (!isFound(row) && found.length === 0) continue;
    rows.push(row);
    if (isGroup(row) && unfolded.has(row.group)) rows.push(...sort(found));
  }
  return rows;
}
