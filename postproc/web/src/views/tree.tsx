// The call tree as a table.
import { useContext, useEffect, useMemo } from 'preact/hooks';
import { formatCount, formatPercent } from '../format.ts';
import { foldedProps } from '../folded_props.ts';
import { useKeys } from '../keys.ts';
import { toFlame, toFunction } from '../links.ts';
import { LiveContext } from '../live/context.ts';
import { useNode } from '../live/use_chosen.ts';
import type { Measure } from '../measure.ts';
import type { Profile } from '../model.ts';
import { outermostMatches } from '../search.ts';
import { placeText } from '../sites.ts';
import { type Column, compareBy, formatSorting, parseSorting } from '../table/column.ts';
import { Table } from '../table/table.tsx';
import { firstPath, hotPath, Openness, visibleNodes } from '../tree_rows.ts';
import { KindDot } from '../ui/kind_dot.tsx';
import { Name } from '../ui/name.tsx';
import { Share } from '../ui/share.tsx';
import { SourceButton } from '../ui/source_button.tsx';
import { FoldSwitches } from '../ui/fold_switches.tsx';
import { GroupButton } from '../ui/group_button.tsx';
import { Twig } from '../ui/twig.tsx';
import type { View, ViewProps } from '../view.ts';

const kIndent = 14; // pixels for each level
const kMostIndent = 'max(100% - 240px, 40%)'; // of the column: names stay readable

interface TreeHooks {
  openness: Openness;
  toggle(node: number): void;
}

function columnsFor(profile: Profile, measure: Measure, { openness, toggle }: TreeHooks) {
  const { nodes } = profile.data;
  const columns: Column<number>[] = [
    {
      id: 'name',
      title: 'routine',
      width: 'minmax(min(380px, 50vw), 1fr)',
      value: (node) => profile.nameOf(node),
      cell: (node) => (
        <span
          class="tree-name"
          style={{ paddingLeft: `min(${profile.level[node] * kIndent}px, ${kMostIndent})` }}
        >
          <Twig
            open={openness.hasChildren(node) ? openness.isOpen(node) : undefined}
            onToggle={() => toggle(node)}
          />
          <KindDot kind={profile.kind(profile.name[node])} />
          {profile.origin(node) === 's' && (
            <i class="sampled" title="seen only by samples">
              ~
            </i>
          )}
          <Name name={profile.nameOf(node)} from={placeText(profile.place[node])} />
        </span>
      ),
    },
    {
      id: 'total',
      title: `total ${measure.label}`,
      hint: measure.unit,
      width: '170px',
      value: (node) => measure.total[node],
      cell: (node) => (
        <Share part={measure.total[node]} whole={measure.whole} text={`${measure.format(measure.total[node])} · ${formatPercent(measure.total[node], measure.whole)}`} />
      ),
    },
    {
      id: 'self',
      title: `self ${measure.label}`,
      hint: measure.unit,
      width: '120px',
      value: (node) => measure.self[node],
      cell: (node) => (measure.self[node] === 0 ? '' : measure.format(measure.self[node])),
    },
  ];
  for (const [id, title] of [['calls', 'calls'], ['samples', 'on chains']] as const) {
    columns.push({
      id,
      title,
      hint: id === 'calls' ? 'exact' : 'sampled stacks that contain it between or below counted methods',
      width: id === 'calls' ? '118px' : '84px',
      value: (node) => nodes[id][node],
      cell: (node) => (nodes[id][node] === 0 ? '' : formatCount(nodes[id][node])),
    });
  }
  return columns;
}

interface TreeToolbarProps extends ViewProps {
  selected: number; // -1: none
  onHotPath: (() => void) | undefined;
  onReset(): void;
}

function TreeToolbar(props: TreeToolbarProps) {
  const { profile, measure, selected, navigate } = props;
  return (
    <div class="toolbar">
      <button
        type="button"
        disabled={props.onHotPath === undefined}
        onClick={props.onHotPath}
        title="Opens the hottest way down from the selected row (*)"
      >
        Open hot path
      </button>
      <button type="button" onClick={props.onReset}>
        Reset
      </button>
      {selected >= 0 && (
        <button type="button" onClick={() => navigate(toFlame(profile, selected))}>
          In the flame graph
        </button>
      )}
      {selected >= 0 && profile.name[selected] < profile.routineCount && (
        <button type="button" onClick={() => navigate(toFunction(profile.name[selected]))}>
          Callers and callees
        </button>
      )}
      {selected >= 0 && <SourceButton {...{ profile, navigate, name: profile.name[selected] }} />}
      <GroupButton {...props} node={selected} />
      <FoldSwitches {...props} />
      <span class="unit">
        {measure.label}: {measure.unit}
      </span>
    </div>
  );
}

function Tree(given: ViewProps) {
  const props = foldedProps(given);
  const { profile, measure, state, search, navigate } = props;
  const shape = [measure.id, state.fold, state.threads, state.sites, state.range].join(' ');
  const path = useMemo(() => profile.kept(`tree ${shape}`, () => firstPath(profile, measure)), [profile, measure]);
  const [selected, setSelected] = useNode(profile);
  const isLive = useContext(LiveContext);
  // Where the path branches is in sight at first, also after a change of the nodes.
  useEffect(() => {
    if (state['tree.at'] === undefined) setSelected(path[path.length - 1] ?? -1);
  }, [isLive ? shape : path]);
  const openness = useMemo(
    () => Openness.parse(profile, path, state['tree.open']),
    [profile, path, state['tree.open']],
  );
  const show = (next: Openness) => navigate({ 'tree.open': next.format() }, true);
  const toggle = (node: number) => show(openness.set([node], !openness.isOpen(node)));
  const columns = useMemo(
    () => columnsFor(profile, measure, { openness, toggle }),
    [profile, measure, openness],
  );
  const sorting = parseSorting(state['tree.sort'], 'total');
  const rows = useMemo(() => {
    const column = columns.find((each) => each.id === sorting.column) ?? columns[1];
    const sign = sorting.reversed ? -1 : 1;
    return visibleNodes(profile, openness, (a, b) => sign * compareBy(column, a, b) || a - b);
  }, [profile, openness, columns, sorting.column, sorting.reversed]);
  const index = rows.indexOf(selected);
  const openHotPath = (node: number) => show(openness.set(hotPath(profile, measure, node), true));

  const reveal = (node: number) => {
    show(openness.set(profile.path(node).slice(0, -1), true));
    setSelected(node);
  };
  const wanted = state['tree.at'];
  useEffect(() => {
    if (wanted === undefined) return;
    const node = profile.nodeAt(Number(wanted));
    if (node >= 0) reveal(node);
  }, [wanted]);

  const matches = useMemo(
    () => (search.active ? outermostMatches(profile, search) : []),
    [profile, search],
  );
  const find = (backwards: boolean) => {
    if (matches.length === 0) return;
    const at = matches.indexOf(selected);
    const start = at < 0 && backwards ? 0 : at;
    reveal(matches[(start + (backwards ? -1 : 1) + matches.length) % matches.length]);
  };
  useKeys({ n: () => find(false), 'shift+n': () => find(true) });

  const onKey = (event: KeyboardEvent, at: number): boolean => {
    const node = rows[at];
    if (node === undefined) return false;
    if (event.key === 'ArrowRight') {
      if (!openness.isOpen(node)) toggle(node);
      else if (openness.hasChildren(node)) setSelected(rows[at + 1]);
    } else if (event.key === 'ArrowLeft') {
      if (openness.isOpen(node) && openness.hasChildren(node)) toggle(node);
      else if (profile.parent[node] >= 0) setSelected(profile.parent[node]);
    } else if (event.key === '*') {
      openHotPath(node);
    } else {
      return false;
    }
    return true;
  };
  const root = index >= 0 ? selected : rows[0];
  return (
    <section class="fill" aria-label="Call tree">
      <TreeToolbar
        {...props}
        selected={index >= 0 ? selected : -1}
        onHotPath={root === undefined ? undefined : () => openHotPath(root)}
        onReset={() => show(openness.reset())}
      />
      <Table
        label="Call tree"
        isTree
        columns={columns}
        rows={rows}
        keyOf={(node) => profile.addressOf(node)}
        factsOf={(node) => ({
          level: profile.level[node] + 1,
          expanded: openness.hasChildren(node) ? openness.isOpen(node) : undefined,
          marked: search.active && search.matches(profile.name[node]),
        })}
        sorting={sorting}
        onSort={(next) => navigate({ 'tree.sort': formatSorting(next) }, true)}
        selected={index}
        onSelect={(at) => setSelected(rows[at])}
        onOpen={(node) => toggle(node)}
        onKey={onKey}
      />
      <p class="hint">
        Arrow keys open and close; * opens the hottest way down; ~ marks what only samples saw.
      </p>
    </section>
  );
}

export const treeView: View = {
  id: 'tree',
  title: 'Call tree',
  about: 'Every path with its calls, time and samples',
  component: Tree,
};
