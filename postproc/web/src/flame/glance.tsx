// The top of the flame graph, as a picture that links to the whole.
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { contextFor } from '../ui/canvas.ts';
import { useSize } from '../ui/use_size.ts';
import type { ViewProps } from '../view.ts';
import { frameAt, layOut } from './layout.ts';
import { kRowHeight, paint } from './paint.ts';
import { CallTreeSource } from './source.ts';

const kMostRows = 9;

export function FlameGlance({ profile, measure, search, theme, navigate }: ViewProps) {
  const [box, size] = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const source = useMemo(() => new CallTreeSource(profile, measure), [profile, measure]);
  const layout = useMemo(() => layOut(source, 0, size.width), [source, size.width]);
  const height = Math.min(layout.rows.length, kMostRows) * kRowHeight;
  useLayoutEffect(() => {
    if (size.width === 0) return;
    const scene = { profile, source, layout, search, theme, upwards: false };
    const view = { width: size.width, height };
    paint(scene, contextFor(canvas.current!, view), { ...view, scroll: 0, content: height });
  }, [profile, source, layout, search, theme, size.width, height]);
  const open = (event: MouseEvent) => {
    const bounds = canvas.current!.getBoundingClientRect();
    const depth = Math.floor((event.clientY - bounds.top) / kRowHeight);
    const frame = Math.max(frameAt(layout, depth, event.clientX - bounds.left), 0);
    navigate({ view: 'flame', 'flame.of': undefined, 'flame.at': source.address(frame) });
  };
  return (
    <figure class="panel glance">
      <figcaption>
        <b>Where it goes</b> <span class="faint">width: {measure.unit}</span>
        <button type="button" onClick={() => navigate({ view: 'flame' })}>
          The whole flame graph
        </button>
      </figcaption>
      <div ref={box}>
        <canvas ref={canvas} role="img" aria-label="The top of the flame graph" onClick={open} />
      </div>
    </figure>
  );
}
