// The call graph as a river of time: an overview and a detail pane.
import type { RefObject } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { useKeys } from '../keys.ts';
import { saveSvg, saveSvgAsPng } from '../ui/save.ts';
import { useSize } from '../ui/use_size.ts';
import type { View, ViewProps } from '../view.ts';
import { fitted, zoomed } from './camera.ts';
import { chosenOf, commandsFor } from './commands.ts';
import { DetailsPanel } from './details.tsx';
import { GraphLegend } from './legend.tsx';
import { kSettingKeys, settingsOf } from './options.ts';
import { Overview } from './overview.tsx';
import { Pane } from './pane.tsx';
import { makePicture, type Picture } from './picture.ts';
import { graphSvg } from './save.ts';
import { makeTextWidth } from './text_width.ts';
import { Toolbar } from './toolbar.tsx';
import { useCamera } from './use_camera.ts';

// The whole drawing, whatever the window shows of it.
function useSaving(title: string, label: string, picture: Picture, pane: RefObject<HTMLDivElement | null>) {
  const file = `${title.slice(0, 60)}-calls-${label}`;
  const size = { width: Math.ceil(picture.layout.width), height: Math.ceil(picture.layout.height) };
  const svg = () => graphSvg(pane.current!.querySelector('svg')!, size);
  return { onSvg: () => saveSvg(file, svg()), onPng: () => saveSvgAsPng(file, size, svg()) };
}

function CallGraphView({ profile, measure, state, search, navigate }: ViewProps) {
  const widthOf = useMemo(makeTextWidth, []);
  const set = kSettingKeys.map((key) => state[key] ?? '').join('|');
  const settings = useMemo(() => settingsOf(state, profile.routineCount), [set, profile]);
  const picture = useMemo(
    () => makePicture(profile, measure, settings, widthOf),
    [profile, measure, settings],
  );
  const chosen = useMemo(() => chosenOf(picture, state['graph.at']), [picture, state['graph.at']]);
  const commands = useMemo(
    () => commandsFor(picture, settings, navigate),
    [picture, settings, navigate],
  );
  const [element, window] = useSize<HTMLDivElement>();
  // The selection by a link or the back button.
  const linked = useRef(state['graph.at']).current;
  const shown = useMemo(() => chosenOf(picture, linked), [picture]);
  const { camera, move } = useCamera(
    picture,
    window,
    `${settings.root} ${measure.id}`,
    shown !== undefined && 'node' in shown ? shown.node : undefined,
  );
  const saved = useSaving(profile.data.title, measure.label, picture, element);
  useKeys({ s: saved.onSvg, 'shift+s': saved.onPng });
  const common = { profile, measure, picture, search, chosen, camera, window };
  return (
    <section class="graph" aria-label="Call graph">
      <Toolbar
        {...{ profile, measure, settings, picture, navigate, saved }}
        onZoom={(factor) => move(zoomed(camera, factor, window.width / 2, window.height / 2))}
        onFit={() => move(fitted(picture.layout, window))}
      />
      <div class="graph-panes">
        <div class="overview-pane">
          <Overview {...common} onMove={move} />
          <GraphLegend profile={profile} picture={picture} />
        </div>
        <Pane {...common} {...{ commands, element, move }} />
      </div>
      <DetailsPanel
        {...{ profile, measure, chosen, navigate }}
        graph={picture.graph}
        onRoot={commands.root}
        onOpen={commands.open}
        onStep={commands.stepBy}
      />
    </section>
  );
}

export const graphView: View = {
  id: 'graph',
  title: 'Call graph',
  about: 'Who calls whom, arcs as wide as the time that flows through them',
  component: CallGraphView,
};
