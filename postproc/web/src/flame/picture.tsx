// A flame graph that scrolls: the canvas is as large as the visible part. Marks of the frame under
// the pointer and of the selected one are layers above it, so that moving them repaints nothing.
import type { ComponentChildren, RefObject } from 'preact';
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { LiveContext } from '../live/context.ts';
import { contextFor } from '../ui/canvas.ts';
import type { Size } from '../ui/use_size.ts';
import { frameAt, placeOf } from './layout.ts';
import { depthAt, kRowHeight, paint, type Scene, yOf } from './paint.ts';

export interface Hover {
  readonly frame: number;
  readonly x: number; // of the pointer, in the window
  readonly y: number;
}

interface PictureProps {
  box: RefObject<HTMLDivElement | null>;
  size: Size;
  scene: Scene;
  page: unknown; // while it stays, so does what is in sight
  selected: number; // -1: none
  hovered: number;
  onHover(hover: Hover | undefined): void;
  onClick(frame: number): void;
  onKeyDown(event: KeyboardEvent): void;
}

function Mark({ scene, frame, content, kind }: {
  scene: Scene;
  frame: number;
  content: number;
  kind: 'selected' | 'hovered';
}): ComponentChildren {
  const place = frame < 0 ? undefined : placeOf(scene.layout, frame);
  if (place === undefined) return null;
  return (
    <i
      class={`mark ${kind}`}
      style={{
        left: `${place.x}px`,
        top: `${yOf(scene.upwards, place.depth, content)}px`,
        width: `${Math.max(place.width - 1, 2)}px`,
        height: `${kRowHeight - 1}px`,
      }}
    />
  );
}

export function FlamePicture(props: PictureProps) {
  const { box, size, scene, selected } = props;
  const { layout, source, upwards } = scene;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [scroll, setScroll] = useState(0);
  const content = Math.max(layout.rows.length * kRowHeight, size.height);

  useLayoutEffect(() => {
    if (size.width === 0) return;
    paint(scene, contextFor(canvas.current!, size), { ...size, scroll, content });
  }, [scene, size, scroll, content]);
  // The root's end of the picture is visible first.
  const isLive = useContext(LiveContext);
  // A refresh makes room at the leaves' end.
  const before = useRef(content);
  useLayoutEffect(() => {
    if (isLive && upwards) box.current!.scrollTop += content - before.current;
    before.current = content;
  }, [content]);
  useEffect(() => {
    box.current!.scrollTop = upwards ? content : 0;
  }, [props.page, upwards, isLive || content]);
  useEffect(() => {
    const place = selected < 0 ? undefined : placeOf(layout, selected);
    if (place === undefined) return;
    const y = yOf(upwards, place.depth, content);
    const view = box.current!;
    view.scrollTop = Math.max(Math.min(view.scrollTop, y), y + kRowHeight - size.height);
  }, [isLive ? selected < 0 || source.address(selected) : selected, props.page, upwards, isLive || content, size.height]);

  const frameUnder = (event: MouseEvent) => {
    const bounds = canvas.current!.getBoundingClientRect();
    const depth = depthAt(upwards, event.clientY - bounds.top + scroll, content);
    return frameAt(layout, depth, event.clientX - bounds.left);
  };
  return (
    <div class="picture" ref={box} onScroll={(event) => setScroll(event.currentTarget.scrollTop)}>
      <div class="picture-content" style={{ height: `${content}px` }}>
        <canvas
          ref={canvas}
          tabIndex={0}
          role="application"
          aria-label="Flame graph: arrow keys go from frame to frame, Enter zooms"
          aria-describedby="flame-frame"
          onMouseMove={(event) => {
            const frame = frameUnder(event);
            const { clientX: x, clientY: y } = event;
            props.onHover(frame < 0 ? undefined : { frame, x, y });
          }}
          onMouseLeave={() => props.onHover(undefined)}
          onClick={(event) => {
            const frame = frameUnder(event);
            if (frame >= 0) props.onClick(frame);
          }}
          onKeyDown={props.onKeyDown}
        />
        <Mark scene={scene} frame={props.hovered} content={content} kind="hovered" />
        <Mark scene={scene} frame={selected} content={content} kind="selected" />
      </div>
    </div>
  );
}
