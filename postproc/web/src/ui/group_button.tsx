// For the root of a group of threads: shows the threads instead; for one of its threads: the group.
import { forgetNumbers } from '../links.ts';
import type { ViewProps } from '../view.ts';

export function GroupButton({ profile, threads, state, navigate, node }: ViewProps & { node: number }) {
  if (node < 0 || !profile.isRoot(node)) return null;
  const { recorded, unfolded } = threads;
  // The address of a root is that of its first thread.
  const thread = recorded.thread[recorded.nodeAt(profile.addressOf(node))];
  const group = recorded.groups.find((each) => each.threads.includes(thread));
  if (group === undefined || group.threads.length < 2) return null;
  return (
    <button
      type="button"
      onClick={() => navigate({ ...forgetNumbers(state), threads: unfolded.toggled(group).format() })}
    >
      {unfolded.has(group) ? 'Merge its group' : `Its ${group.threads.length} threads`}
    </button>
  );
}
