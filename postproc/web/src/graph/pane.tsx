// The detail pane: the drawing under the window, moved by mouse, wheel and keys.
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type Keys, useKeys } from '../keys.ts';
import type { ViewProps } from '../view.ts';
import { type Camera, centredOn, type Extent, fitted, isInside, zoomed } from './camera.ts';
import { kAllThreads } from './call_graph.ts';
import type { Commands } from './commands.ts';
import { middleOf } from './paths.ts';
import type { Picture } from './picture.ts';
import { type Chosen, nodeId, Scene } from './scene.tsx';
import { neighbour } from './walk_keys.ts';

export interface PaneProps extends Pick<ViewProps, 'profile' | 'measure' | 'search'> {
  picture: Picture;
  chosen: Chosen;
  commands: Commands;
  camera: Camera;
  window: Extent;
  element: RefObject<HTMLDivElement | null>;
  move(camera: Camera): void;
}

const kStep = 80; // pixels that an arrow key moves

// The next node that the search matches, or the one before; `from` if there is none.
function nextMatch({ picture, search }: PaneProps, from: number, step: 1 | -1): number {
  const { nodes } = picture.graph;
  for (let i = 1; i <= nodes.length; ++i) {
    const node = (from + step * i + nodes.length) % nodes.length;
    const { name } = nodes[node];
    if (search.active && name !== kAllThreads && search.matches(name)) return node;
  }
  return from;
}

function bringIntoSight({ camera, window, move }: PaneProps, x: number, y: number): void {
  if (!isInside(camera, x, y, window)) move(centredOn(camera, x, y, window));
}

function choose(props: PaneProps, node: number): void {
  props.commands.choose({ node });
  const box = props.picture.layout.boxes[node];
  bringIntoSight(props, box.x + box.width / 2, box.y + box.height / 2);
}

// From arc to arc, the widest first; from a node to its widest one.
function chooseArc(props: PaneProps, step: 1 | -1): void {
  const { picture, chosen, commands } = props;
  const { arcs } = picture.graph;
  if (arcs.length === 0) return;
  let arc = 0;
  if (chosen !== undefined && 'arc' in chosen) arc = (chosen.arc + step + arcs.length) % arcs.length;
  else if (chosen !== undefined) {
    arc = Math.max(0, arcs.findIndex(({ caller, callee }) => caller === chosen.node || callee === chosen.node));
  }
  commands.choose({ arc });
  bringIntoSight(props, ...middleOf(picture.layout.paths[arc]));
}

// From an arc to its ends.
function endOf({ picture, chosen }: PaneProps, key: string): number | undefined {
  if (chosen === undefined || 'node' in chosen) return undefined;
  const { caller, callee } = picture.graph.arcs[chosen.arc];
  return key === 'ArrowUp' || key === 'ArrowLeft' ? caller : callee;
}

// These keys work wherever the focus is.
function keysFor(props: PaneProps): Keys {
  const { picture, chosen, commands, camera, window, move } = props;
  const at = chosen !== undefined && 'node' in chosen ? chosen.node : 0;
  const go = (key: string) => () =>
    choose(props, endOf(props, key) ?? (chosen === undefined ? 0 : neighbour(picture, at, key)));
  const pan = (dx: number, dy: number) => () =>
    move({ ...camera, x: camera.x + dx * kStep, y: camera.y + dy * kStep });
  const zoom = (factor: number) => () =>
    move(zoomed(camera, factor, window.width / 2, window.height / 2));
  const keys: Keys = {
    ArrowUp: go('ArrowUp'),
    ArrowDown: go('ArrowDown'),
    ArrowLeft: go('ArrowLeft'),
    ArrowRight: go('ArrowRight'),
    'shift+ArrowUp': pan(0, 1),
    'shift+ArrowDown': pan(0, -1),
    'shift+ArrowLeft': pan(1, 0),
    'shift+ArrowRight': pan(-1, 0),
    '+': zoom(1.3),
    '=': zoom(1.3),
    '-': zoom(1 / 1.3),
    '0': () => move(fitted(picture.layout, window)),
    '[': () => commands.stepBy(at, -1),
    ']': () => commands.stepBy(at, 1),
    a: () => chooseArc(props, 1),
    'shift+a': () => chooseArc(props, -1),
    r: () => commands.root(at),
    n: () => choose(props, nextMatch(props, at, 1)),
    'shift+n': () => choose(props, nextMatch(props, at, -1)),
  };
  // Otherwise the page handles it.
  if (chosen !== undefined) keys.Escape = () => commands.choose(undefined);
  return keys;
}

// Wheel events stop the page from scrolling, which only a listener that is not passive may do.
function useWheel(props: PaneProps): void {
  const handle = useRef((_: WheelEvent) => {});
  handle.current = (event) => {
    event.preventDefault();
    const { camera, element, move } = props;
    if (event.shiftKey) {
      move({ ...camera, x: camera.x - event.deltaY - event.deltaX });
      return;
    }
    const bounds = element.current!.getBoundingClientRect();
    const factor = Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0015));
    move(zoomed(camera, factor, event.clientX - bounds.left, event.clientY - bounds.top));
  };
  useLayoutEffect(() => {
    const element = props.element.current!;
    const listener = (event: WheelEvent) => handle.current(event);
    element.addEventListener('wheel', listener, { passive: false });
    return () => element.removeEventListener('wheel', listener);
  }, []);
}

function useDrag({ camera, element, move }: PaneProps) {
  const from = useRef<{ x: number; y: number; camera: Camera } | undefined>(undefined);
  return {
    onPointerDown: (event: PointerEvent) => {
      if (event.button === 0) from.current = { x: event.clientX, y: event.clientY, camera };
    },
    onPointerMove: (event: PointerEvent) => {
      const start = from.current;
      if (start === undefined || event.buttons === 0) return;
      const [dx, dy] = [event.clientX - start.x, event.clientY - start.y];
      // The pointer may move slightly during a click.
      if (Math.abs(dx) + Math.abs(dy) < 4) return;
      element.current!.setPointerCapture(event.pointerId);
      move({ ...start.camera, x: start.camera.x + dx, y: start.camera.y + dy });
    },
    onPointerUp: () => {
      from.current = undefined;
    },
  };
}

export function Pane(props: PaneProps) {
  const { profile, measure, search, picture, chosen, commands, camera, window, element } = props;
  useWheel(props);
  const drag = useDrag(props);
  useKeys(keysFor(props));
  // Buttons elsewhere handle Enter themselves.
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') commands.open(chosen !== undefined && 'node' in chosen ? chosen.node : 0);
  };
  return (
    <div
      ref={element}
      class="graph-pane"
      tabIndex={0}
      role="application"
      aria-label="Call graph; arrow keys go from function to function, A from arc to arc"
      aria-activedescendant={chosen !== undefined && 'node' in chosen ? nodeId(chosen.node) : undefined}
      onKeyDown={onKeyDown}
      {...drag}
    >
      <svg class="graph-picture" width={window.width} height={window.height}>
        <defs>
          <marker id="graph-head" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto">
            <path d="M0,0L6,3L0,6Z" fill="context-stroke" />
          </marker>
        </defs>
        <g transform={`translate(${camera.x},${camera.y}) scale(${camera.scale})`}>
          <Scene {...{ profile, measure, picture, search, chosen }} actions={commands} />
        </g>
      </svg>
    </div>
  );
}
