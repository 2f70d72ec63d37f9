// Flame graph and icicle of the merged tree, and of its callers.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { measureFacts, nodeFacts, originLabel } from '../facts.ts';
import { type FlameLayout, frameAt, layOut, placeOf } from '../flame/layout.ts';
import { drawnMatches, nextMatch, type Step, stepFrom } from '../flame/navigate.ts';
import { depthAt, kRowHeight, paint, type Scene, yOf } from '../flame/paint.ts';
import { CallersSource, CallTreeSource, type FlameSource } from '../flame/source.ts';
import { formatCount, formatPercent } from '../format.ts';
import { useKeys } from '../keys.ts';
import { contextFor } from '../ui/canvas.ts';
import { Legend } from '../ui/legend.tsx';
import { Name } from '../ui/name.tsx';
import { Toggle } from '../ui/toggle.tsx';
import { Facts, Tooltip } from '../ui/tooltip.tsx';
import { useSize } from '../ui/use_size.ts';
import type { View, ViewProps } from '../view.ts';

const kArrows: Record<string, Record<string, Step>> = {
  icicle: { ArrowDown: 'inwards', ArrowUp: 'outwards', ArrowLeft: 'left', ArrowRight: 'right' },
  flame: { ArrowUp: 'inwards', ArrowDown: 'outwards', ArrowLeft: 'left', ArrowRight: 'right' },
};

interface Hover {
  node: number;
  x: number;
  y: number;
}

// All that is said about a frame, whichever way round the tree is.
function factsOf({ profile, measure }: ViewProps, source: FlameSource, node: number) {
  const value = source.value(node);
  const isPlain = source instanceof CallTreeSource && node > 0;
  if (isPlain) {
    const inProfile = source.profileNode(node);
    return [...measureFacts(profile, measure, inProfile), ...nodeFacts(profile, inProfile)];
  }
  return [
    [measure.label, `${measure.format(value)} · ${formatPercent(value, measure.whole)} of all`],
  ] as const;
}

function labelOf({ profile }: ViewProps, source: FlameSource, node: number): string {
  return node === 0 ? source.rootLabel : profile.text(source.name(node));
}

function noteOf({ profile }: ViewProps, source: FlameSource, node: number): string | undefined {
  return node === 0 ? undefined : originLabel(profile, source.profileNode(node));
}

function Flame(props: ViewProps) {
  const { profile, measure, state, search, theme, navigate } = props;
  const reversed = state['flame.of'] === 'callers';
  const upwards = state['flame.as'] === 'flame';
  const source = useMemo<FlameSource>(
    () =>
      reversed ? new CallersSource(profile, measure) : new CallTreeSource(profile, measure),
    [profile, measure, reversed],
  );
  const zoom = source.locate(state['flame.at'] ?? '');
  const [box, size] = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [scroll, setScroll] = useState(0);
  const [hover, setHover] = useState<Hover>();
  const [selected, setSelected] = useState(-1);
  const layout: FlameLayout = useMemo(
    () => layOut(source, zoom, size.width),
    [source, zoom, size.width],
  );
  const content = Math.max(layout.rows.length * kRowHeight, size.height);
  const scene: Scene = {
    profile, source, layout, search, theme, upwards, selected, hovered: hover?.node ?? -1,
  };

  useLayoutEffect(() => {
    if (size.width === 0) return;
    paint(scene, contextFor(canvas.current!, size), { ...size, scroll, content });
  });
  useEffect(() => {
    setSelected(-1);
    setHover(undefined);
  }, [source]);
  // The root's end of the picture is what one sees first.
  useEffect(() => {
    box.current!.scrollTop = upwards ? content : 0;
  }, [source, upwards, zoom, content]);

  const zoomTo = (node: number) => {
    navigate({ 'flame.at': source.address(node) });
    setSelected(node);
    setHover(undefined);
  };
  const select = (node: number) => {
    setSelected(node);
    setHover(undefined);
    const place = placeOf(layout, node);
    if (place === undefined) return;
    const y = yOf(scene, place.depth, content);
    const view = box.current!;
    if (y < view.scrollTop) view.scrollTop = y;
    if (y + kRowHeight > view.scrollTop + size.height) view.scrollTop = y + kRowHeight - size.height;
  };
  const find = (backwards: boolean) => {
    const found = nextMatch(drawnMatches(source, layout, search), selected, backwards);
    if (found >= 0) select(found);
  };
  useKeys({
    i: () => navigate({ 'flame.as': upwards ? undefined : 'flame' }),
    r: () => navigate({ 'flame.of': reversed ? undefined : 'callers', 'flame.at': undefined }),
    '0': () => zoomTo(0),
    n: () => find(false),
    'shift+n': () => find(true),
  });

  const nodeUnder = (event: MouseEvent) => {
    const bounds = canvas.current!.getBoundingClientRect();
    const depth = depthAt(scene, event.clientY - bounds.top + scroll, content);
    return frameAt(layout, depth, event.clientX - bounds.left);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = kArrows[upwards ? 'flame' : 'icicle'][event.key];
    if (step !== undefined) select(stepFrom(source, layout, selected, step));
    else if ((event.key === 'Enter' || event.key === ' ') && selected >= 0) zoomTo(selected);
    else return;
    event.preventDefault();
  };
  const shown = selected >= 0 ? selected : zoom;
  const shownName = source.name(shown);
  return (
    <section class="fill" aria-label="Flame graph">
      <div class="toolbar">
        <Toggle
          label="Tree"
          value={reversed ? 'callers' : 'calls'}
          choices={[
            { id: 'calls', label: 'Calls', hint: 'From each thread to what it calls (R)' },
            { id: 'callers', label: 'Callers', hint: 'From where it is spent to who calls it (R)' },
          ]}
          onChange={(id) =>
            navigate({ 'flame.of': id === 'callers' ? id : undefined, 'flame.at': undefined })
          }
        />
        <Toggle
          label="Direction"
          value={upwards ? 'flame' : 'icicle'}
          choices={[
            { id: 'icicle', label: 'Icicle', hint: 'The root on top (I)' },
            { id: 'flame', label: 'Flame', hint: 'The root at the bottom (I)' },
          ]}
          onChange={(id) => navigate({ 'flame.as': id === 'flame' ? id : undefined })}
        />
        <button type="button" disabled={zoom === 0} onClick={() => zoomTo(0)} title="0">
          Reset zoom
        </button>
        <Legend profile={profile} theme={theme} />
        <span class="unit">
          width: {measure.unit}
          {layout.notDrawn > 0 && (
            <span class="not-drawn">
              {' · '}
              {formatCount(layout.notDrawn)} frames too narrow to draw
            </span>
          )}
        </span>
      </div>
      <div
        class="picture"
        ref={box}
        onScroll={(event) => setScroll(event.currentTarget.scrollTop)}
      >
        <div class="picture-content" style={{ height: `${content}px` }}>
          <canvas
            ref={canvas}
            tabIndex={0}
            role="application"
            aria-label="Flame graph: arrow keys go from frame to frame, Enter zooms"
            aria-describedby="flame-frame"
            onMouseMove={(event) => {
              const node = nodeUnder(event);
              setHover(node < 0 ? undefined : { node, x: event.clientX, y: event.clientY });
            }}
            onMouseLeave={() => setHover(undefined)}
            onClick={(event) => {
              const node = nodeUnder(event);
              if (node >= 0) zoomTo(node);
            }}
            onKeyDown={onKeyDown}
          />
        </div>
      </div>
      <div class="selection" id="flame-frame" aria-live="polite">
        <Name name={labelOf(props, source, shown)} />
        <span class="selection-links">
          {shownName >= 0 && shownName < profile.routineCount && (
            <button type="button" onClick={() => navigate({ view: 'function', fn: `${shownName}` })}>
              Callers and callees
            </button>
          )}
          {shown > 0 && !reversed && (
            <button
              type="button"
              onClick={() => navigate({ view: 'tree', 'tree.at': `${source.profileNode(shown)}` })}
            >
              In the tree
            </button>
          )}
        </span>
        <Facts facts={factsOf(props, source, shown)} />
      </div>
      {hover !== undefined && (
        <Tooltip
          x={hover.x}
          y={hover.y}
          title={labelOf(props, source, hover.node)}
          note={noteOf(props, source, hover.node)}
          facts={factsOf(props, source, hover.node)}
        />
      )}
    </section>
  );
}

export const flameView: View = {
  id: 'flame',
  title: 'Flame graph',
  about: 'The whole tree at once, as wide as it is hot',
  component: Flame,
};
