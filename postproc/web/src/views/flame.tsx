// Flame graph and icicle of the merged tree, and of its callers.
import { useContext, useEffect, useMemo, useState } from 'preact/hooks';
import { describe } from '../flame/describe.ts';
import { layOut } from '../flame/layout.ts';
import { drawnMatches, nextMatch, onFrameKey } from '../flame/navigate.ts';
import type { Scene } from '../flame/paint.ts';
import { FlamePicture, type Hover } from '../flame/picture.tsx';
import { saveFlamePng, saveFlameSvg } from '../flame/save.ts';
import { FlameSelection } from '../flame/selection.tsx';
import { CallersSource, CallTreeSource, type FlameSource } from '../flame/source.ts';
import { FlameToolbar, toCallers, toCalls } from '../flame/toolbar.tsx';
import { foldedProps } from '../folded_props.ts';
import { useKeys } from '../keys.ts';
import { LiveContext } from '../live/context.ts';
import { useFrame } from '../live/use_chosen.ts';
import { Tooltip } from '../ui/tooltip.tsx';
import { useSize } from '../ui/use_size.ts';
import type { View, ViewProps } from '../view.ts';

function Flame(given: ViewProps) {
  const props = foldedProps(given);
  const { profile, measure, state, search, theme, navigate } = props;
  const reversed = state['flame.of'] === 'callers';
  const upwards = state['flame.as'] === 'flame';
  const [box, size] = useSize<HTMLDivElement>();
  const isLive = useContext(LiveContext);
  const source = useMemo<FlameSource>(
    () => (reversed ? new CallersSource(profile, measure) : new CallTreeSource(profile, measure)),
    [profile, measure, reversed],
  );
  const zoom = source.locate(state['flame.at'] ?? '');
  const layout = useMemo(() => layOut(source, zoom, size.width), [source, zoom, size.width]);
  const scene: Scene = useMemo(
    () => ({ profile, source, layout, search, theme, upwards }),
    [profile, source, layout, search, theme, upwards],
  );
  const [selected, setSelected] = useFrame(source);
  const [hovered, setHovered] = useFrame(source);
  const [pointer, setPointer] = useState({ x: 0, y: 0 });
  const setHover = (hover: Hover | undefined) => {
    setHovered(hover?.frame ?? -1);
    if (hover !== undefined) setPointer({ x: hover.x, y: hover.y });
  };
  const shape = [measure.id, reversed, state.fold, state.threads, state.sites, state.range].join(' ');
  useEffect(() => {
    setSelected(-1);
    setHover(undefined);
  }, [isLive ? shape : source]);

  const zoomTo = (frame: number) => {
    navigate({ 'flame.at': source.address(frame) });
    setSelected(frame);
    setHover(undefined);
  };
  const select = (frame: number) => {
    setSelected(frame);
    setHover(undefined);
  };
  const find = (backwards: boolean) => {
    const found = nextMatch(drawnMatches(source, layout, search), selected, backwards);
    if (found >= 0) select(found);
  };
  const file = `${profile.data.title.slice(0, 60)}-${measure.label}`;
  const saveAsSvg = () => saveFlameSvg(file, scene, measure, size.width);
  const saveAsPng = () => saveFlamePng(file, scene, size.width);
  useKeys({
    s: saveAsSvg,
    'shift+s': saveAsPng,
    i: () => navigate({ 'flame.as': upwards ? undefined : 'flame' }),
    r: () => navigate(reversed ? toCalls : toCallers),
    '0': () => zoomTo(0),
    n: () => find(false),
    'shift+n': () => find(true),
  });
  const onKeyDown = (event: KeyboardEvent) => onFrameKey(event, { source, layout, selected, upwards }, select, zoomTo);
  const under = hovered >= 0 ? describe(profile, measure, source, hovered) : undefined;
  return (
    <section class="fill" aria-label="Flame graph">
      <FlameToolbar {...props} {...{ reversed, upwards }} zoomed={zoom !== 0} notDrawn={layout.notDrawn} onSvg={saveAsSvg} onPng={saveAsPng} />
      <FlamePicture
        {...{ box, size, scene, selected, onKeyDown }}
        hovered={hovered}
        page={isLive ? `${shape} ${state['flame.at']}` : layout}
        onHover={setHover}
        onClick={zoomTo}
      />
      <FlameSelection {...props} source={source} frame={selected >= 0 ? selected : zoom} />
      {under && <Tooltip {...pointer} {...under} />}
    </section>
  );
}

export const flameView: View = {
  id: 'flame',
  title: 'Flame graph',
  about: 'The whole tree at once, as wide as it is hot',
  component: Flame,
};
