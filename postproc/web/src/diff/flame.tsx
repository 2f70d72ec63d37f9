// Both traces in one flame graph: as wide as one of them, coloured by what changed.
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Fact } from '../facts.ts';
import { layOut } from '../flame/layout.ts';
import { drawnMatches, nextMatch, onFrameKey } from '../flame/navigate.ts';
import type { Scene } from '../flame/paint.ts';
import { FlamePicture, type Hover } from '../flame/picture.tsx';
import { saveFlamePng, saveFlameSvg } from '../flame/save.ts';
import { counted, formatCount, formatPercent } from '../format.ts';
import { useKeys } from '../keys.ts';
import { toFunction } from '../links.ts';
import { Name } from '../ui/name.tsx';
import { SaveButtons } from '../ui/save_buttons.tsx';
import { Toggle } from '../ui/toggle.tsx';
import { Facts, Tooltip } from '../ui/tooltip.tsx';
import { useSize } from '../ui/use_size.ts';
import { changeText } from './change.ts';
import { fillOfStep } from './colours.ts';
import type { Comparison, DiffMeasure, Width } from './model.ts';
import { ChangeLegend, stepOfPair } from './parts.tsx';
import { DiffSource } from './source.ts';
import type { DiffView, DiffViewProps } from './view.ts';

const kWidths: readonly { id: Width; label: string; hint: string }[] = [
  { id: 'after', label: 'After', hint: 'As wide as in the new trace; what is gone has no width (W)' },
  { id: 'before', label: 'Before', hint: 'As wide as in the old trace; what is new has no width (W)' },
  { id: 'either', label: 'Either', hint: 'As wide as the greater of both: every path is there (W)' },
];

function widthOf(text: string | undefined): Width {
  return kWidths.find(({ id }) => id === text)?.id ?? 'after';
}

function factsOf(comparison: Comparison, measure: DiffMeasure, node: number): Fact[] {
  const { before, after } = measure;
  const facts: Fact[] = [
    [measure.label, changeText(measure, before.total[node], after.total[node])],
    ['of all', `${formatPercent(before.total[node], before.whole)} → ${formatPercent(after.total[node], after.whole)}`],
    ['self', changeText(measure, before.self[node], after.self[node])],
  ];
  const calls = comparison.measures.find(({ id }) => id === 'calls');
  if (node > 0 && calls !== undefined && measure !== calls) {
    const [was, is] = [calls.before.self[node], calls.after.self[node]];
    if (was !== 0 || is !== 0) facts.push(['calls', changeText({ format: formatCount }, was, is)]);
  }
  const only = comparison.onlyIn(node);
  if (only !== undefined) facts.push(['path', only === 'after' ? 'new: only in the trace after' : 'gone: only in the trace before']);
  if (comparison.isChance(measure, before.total[node], after.total[node]) && before.total[node] !== after.total[node]) {
    facts.push(['difference', 'within chance: less than 3 standard deviations']);
  }
  return facts;
}

// What has no width in this picture.
function Unseen({ comparison, measure, state, navigate }: DiffViewProps) {
  const width = widthOf(state['flame.width']);
  const { parent, nodeCount } = comparison.after;
  const [paths, amount] = useMemo(() => {
    if (width === 'either') return [0, 0];
    const side = width === 'after' ? 'before' : 'after';
    let sum = 0;
    let count = 0;
    for (let node = 1; node < nodeCount; ++node) {
      if (comparison.onlyIn(node) !== side || measure[side].total[node] === 0) continue;
      ++count;
      if (comparison.onlyIn(parent[node]) !== side) sum += measure[side].total[node];
    }
    return [count, sum];
  }, [comparison, measure, width]);
  if (paths === 0) return null;
  return (
    <p class="hint" data-unseen={paths}>
      {width === 'after' ? 'Gone' : 'New'} and so without width here: {counted(paths, 'path')}, {measure.format(amount)}.{' '}
      <button type="button" class="inline" onClick={() => navigate({ 'flame.width': 'either', 'flame.at': undefined })}>
        Show all paths
      </button>
    </p>
  );
}

function Selection({ comparison, measure, node, navigate }: DiffViewProps & { node: number }) {
  const name = comparison.after.name[node];
  return (
    <div class="selection" id="flame-frame" aria-live="polite">
      <Name name={comparison.after.nameOf(node)} />
      <span class="selection-links">
        {name < comparison.after.routineCount && (
          <button type="button" onClick={() => navigate(toFunction(name))}>
            Callers and callees
          </button>
        )}
      </span>
      <Facts facts={factsOf(comparison, measure, node)} />
    </div>
  );
}

function Flame(props: DiffViewProps) {
  const { comparison, measure, state, search, theme, navigate } = props;
  const upwards = state['flame.as'] === 'flame';
  const width = widthOf(state['flame.width']);
  const [box, size] = useSize<HTMLDivElement>();
  const [hover, setHover] = useState<Hover>();
  const [selected, setSelected] = useState(-1);
  const source = useMemo(() => new DiffSource(comparison, measure, width), [comparison, measure, width]);
  const zoom = source.locate(state['flame.at'] ?? '');
  const layout = useMemo(() => layOut(source, zoom, size.width), [source, zoom, size.width]);
  const scene: Scene = useMemo(() => {
    const fillFor = (node: number) => {
      const pair = { before: measure.before.total[node], after: measure.after.total[node] };
      return fillOfStep(stepOfPair({ comparison, measure, pair }), theme);
    };
    return { profile: comparison.after, source, layout, search, theme, upwards, fillFor };
  }, [comparison, measure, source, layout, search, theme, upwards]);
  useEffect(() => {
    setSelected(-1);
    setHover(undefined);
  }, [source]);
  const select = (node: number) => {
    setSelected(node);
    setHover(undefined);
  };
  const zoomTo = (node: number) => {
    navigate({ 'flame.at': source.address(node) });
    select(node);
  };
  const find = (backwards: boolean) => {
    const found = nextMatch(drawnMatches(source, layout, search), selected, backwards);
    if (found >= 0) select(found);
  };
  const setWidth = (id: string) => navigate({ 'flame.width': id === 'after' ? undefined : id });
  const file = `${comparison.data.title.slice(0, 60)}-diff-${measure.label}`;
  const saveAsSvg = () => saveFlameSvg(file, scene, measure[width], size.width);
  const saveAsPng = () => saveFlamePng(file, scene, size.width);
  useKeys({
    s: saveAsSvg,
    'shift+s': saveAsPng,
    w: () => setWidth(kWidths[(kWidths.findIndex(({ id }) => id === width) + 1) % kWidths.length].id),
    i: () => navigate({ 'flame.as': upwards ? undefined : 'flame' }),
    '0': () => zoomTo(0),
    n: () => find(false),
    'shift+n': () => find(true),
  });
  const onKeyDown = (event: KeyboardEvent) => onFrameKey(event, { source, layout, selected, upwards }, select, zoomTo);
  return (
    <section class="fill" aria-label="Flame graph">
      <div class="toolbar">
        <Toggle label="Width" value={width} choices={kWidths} onChange={setWidth} />
        <button type="button" disabled={zoom === 0} onClick={() => navigate({ 'flame.at': undefined })} title="0">
          Reset zoom
        </button>
        <SaveButtons onSvg={saveAsSvg} onPng={saveAsPng} />
        <ChangeLegend isSampled={measure.id === 'ticks'} />
        <span class="unit">
          width: {measure.unit}, {width === 'either' ? 'in either trace' : width}; colour: its change
          {layout.notDrawn > 0 && <span class="not-drawn"> · {counted(layout.notDrawn, 'frame')} too narrow to draw</span>}
        </span>
      </div>
      <FlamePicture
        {...{ box, size, scene, selected, onKeyDown }}
        page={layout}
        hovered={hover?.frame ?? -1}
        onHover={setHover}
        onClick={zoomTo}
      />
      <Unseen {...props} />
      <Selection {...props} node={selected >= 0 ? selected : zoom} />
      {hover && (
        <Tooltip x={hover.x} y={hover.y} title={comparison.after.nameOf(hover.frame)} facts={factsOf(comparison, measure, hover.frame)} />
      )}
    </section>
  );
}

export const flameView: DiffView = {
  id: 'flame',
  title: 'Flame graph',
  about: 'Both traces in one tree: what grew and what shrank',
  component: Flame,
};
