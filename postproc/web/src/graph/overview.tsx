// The whole graph, small, with the window as a frame that can be dragged.
import { memo } from 'preact/compat';
import { useRef } from 'preact/hooks';
import type { Profile } from '../model.ts';
import type { Search } from '../search.ts';
import { type Camera, centredOn, type Extent } from './camera.ts';
import { kAllThreads } from './call_graph.ts';
import type { Picture } from './picture.ts';
import { type Chosen, kindClass } from './scene.tsx';

interface SkeletonProps {
  profile: Profile;
  picture: Picture;
  search: Search;
  chosen: Chosen;
}

// The chosen node with its callers and callees.
function spotlit({ picture, chosen }: SkeletonProps): Set<number> {
  const lit = new Set<number>();
  if (chosen === undefined) return lit;
  picture.graph.arcs.forEach((arc, i) => {
    const is = 'arc' in chosen ? chosen.arc === i : arc.caller === chosen.node || arc.callee === chosen.node;
    if (is) lit.add(arc.caller).add(arc.callee);
  });
  if ('node' in chosen) lit.add(chosen.node);
  return lit;
}

const Skeleton = memo(function Skeleton(props: SkeletonProps) {
  const { profile, picture, search } = props;
  const { layout, graph, widths } = picture;
  const lit = spotlit(props);
  return (
    <>
      {graph.arcs.map((arc, i) => (
        <path
          key={i}
          class={`stream ${kindClass(profile, graph.nodes[arc.callee])}`}
          d={layout.paths[i]}
          stroke-width={widths[i] * 1.5}
        />
      ))}
      {graph.nodes.map((node, i) => {
        const box = layout.boxes[i];
        const match = search.active && node.name !== kAllThreads && search.matches(node.name);
        const words = ['box', kindClass(profile, node)];
        if (match) words.push('match');
        if (lit.has(i)) words.push('lit');
        return <rect key={node.name} class={words.join(' ')} x={box.x} y={box.y} width={box.width} height={box.height} />;
      })}
    </>
  );
});

interface OverviewProps extends SkeletonProps {
  camera: Camera;
  window: Extent;
  onMove(camera: Camera): void;
}

export function Overview({ camera, window, onMove, ...props }: OverviewProps) {
  const { layout } = props.picture;
  const svg = useRef<SVGSVGElement>(null);
  const dragging = useRef(false);
  const follow = (event: PointerEvent) => {
    const matrix = svg.current!.getScreenCTM();
    if (matrix === null) return;
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    onMove(centredOn(camera, x, y, window));
  };
  return (
    <svg
      ref={svg}
      class="overview"
      role="img"
      aria-label="Overview of the whole graph"
      viewBox={`0 0 ${layout.width} ${layout.height}`}
      preserveAspectRatio="xMidYMin meet"
      onPointerDown={(event) => {
        dragging.current = true;
        svg.current!.setPointerCapture(event.pointerId);
        follow(event);
      }}
      onPointerMove={(event) => dragging.current && follow(event)}
      onPointerUp={() => (dragging.current = false)}
      onPointerCancel={() => (dragging.current = false)}
    >
      <Skeleton {...props} />
      <rect
        class="frame"
        x={-camera.x / camera.scale}
        y={-camera.y / camera.scale}
        width={window.width / camera.scale}
        height={window.height / camera.scale}
      />
    </svg>
  );
}
