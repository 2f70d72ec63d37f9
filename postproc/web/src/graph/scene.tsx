// The drawing itself. It changes only when the picture or the marks do; panning moves the group
// around it.
import { memo } from 'preact/compat';
import { counted, formatPercent } from '../format.ts';
import type { Measure } from '../measure.ts';
import type { Profile } from '../model.ts';
import type { Search } from '../search.ts';
import { type GraphArc, type GraphNode, kAllThreads } from './call_graph.ts';
import { placeText } from '../sites.ts';
import { fullName, kPadding, kPartGap, kSymbolRoom } from './label.ts';
import { middleOf } from './paths.ts';
import type { Picture } from './picture.ts';

export type Chosen = { readonly node: number } | { readonly arc: number } | undefined;

export interface Actions {
  choose(chosen: Chosen): void;
  open(node: number): void; // the function's own view
  step(node: number): void; // collapsed → filtered → all → collapsed
}

interface SceneProps {
  profile: Profile;
  measure: Measure;
  picture: Picture;
  search: Search;
  chosen: Chosen;
  actions: Actions;
}

export function kindClass(profile: Profile, node: GraphNode): string {
  return `kind-${node.name === kAllThreads ? 't' : profile.kind(node.name)}`;
}

export function arcTitle(profile: Profile, measure: Measure, picture: Picture, arc: GraphArc): string {
  const { nodes, whole } = picture.graph;
  const name = (index: number) => fullName(profile, nodes[index].name);
  const calls = arc.calls > 0 ? `, ${counted(arc.calls, 'call')}` : '';
  const share = `${measure.format(arc.inclusive)} (${formatPercent(arc.inclusive, whole)})`;
  return `${name(arc.caller)}${placeText(arc.place)} → ${name(arc.callee)}: ${share}${calls}`;
}

function nodeTitle(profile: Profile, measure: Measure, picture: Picture, node: GraphNode): string {
  const { whole } = picture.graph;
  const amount = (value: number) => `${measure.format(value)} (${formatPercent(value, whole)})`;
  const parts = [
    fullName(profile, node.name),
    `total ${amount(node.total)}, self ${amount(node.self)}`,
  ];
  if (node.collapsed > 0) parts.push(`collapsed into it ${amount(node.collapsed)}`);
  if (node.calls > 0) parts.push(counted(node.calls, 'call'));
  if (node.sampled) parts.push('seen only by samples');
  return parts.join('\n');
}

function isChosenArc(chosen: Chosen, arc: GraphArc, index: number): boolean {
  if (chosen === undefined) return false;
  if ('arc' in chosen) return chosen.arc === index;
  return arc.caller === chosen.node || arc.callee === chosen.node;
}

// The line that calls, beside its arc.
function Line({ text, path }: { text: string; path: string }) {
  const [x, y] = middleOf(path);
  return (
    <text class="line" x={x} y={y}>
      {text}
    </text>
  );
}

function Arcs({ profile, measure, picture, chosen, actions }: SceneProps) {
  const { graph, layout, widths } = picture;
  // Thin arcs lie over wide ones.
  const order = graph.arcs.map((_, i) => i).sort((a, b) => widths[b] - widths[a]);
  return (
    <g class="arcs">
      {order.map((i) => {
        const arc = graph.arcs[i];
        const words = ['river', kindClass(profile, graph.nodes[arc.callee])];
        if (layout.up[i]) words.push('back');
        if (isChosenArc(chosen, arc, i)) words.push('chosen');
        return (
          <g
            key={`${graph.nodes[arc.caller].name} ${graph.nodes[arc.callee].name} ${arc.place}`}
            class={words.join(' ')}
            data-caller={fullName(profile, graph.nodes[arc.caller].name)}
            data-callee={fullName(profile, graph.nodes[arc.callee].name)}
            data-line={placeText(arc.place)}
            data-calls={arc.calls}
            data-inclusive={arc.inclusive}
            data-width={widths[i].toFixed(2)}
            onClick={(event) => {
              event.stopPropagation();
              actions.choose({ arc: i });
            }}
          >
            <title>{arcTitle(profile, measure, picture, arc)}</title>
            <path class="reach" d={layout.paths[i]} stroke-width={Math.max(10, widths[i] + 4)} />
            <path
              class="stream"
              d={layout.paths[i]}
              stroke-width={widths[i]}
              marker-end={layout.up[i] ? 'url(#graph-head)' : undefined}
            />
            {picture.lines[i] !== '' && <Line text={picture.lines[i]} path={layout.paths[i]} />}
          </g>
        );
      })}
    </g>
  );
}

const kSymbols = {
  collapsed: 'M0,0H9L4.5,7Z',
  filtered: 'M2.25,3.5H6.75L4.5,7Z',
  all: '',
} as const;

function Symbol({ node, x, y, onStep }: { node: GraphNode; x: number; y: number; onStep(): void }) {
  return (
    <g
      class="detail"
      data-detail={node.detail}
      transform={`translate(${x},${y})`}
      onClick={(event) => {
        event.stopPropagation();
        onStep();
      }}
      onDblClick={(event) => event.stopPropagation()}
    >
      <rect class="reach" x="-5" y="-8" width="19" height="24" />
      <path class="outline" d="M0,0H9L4.5,7Z" />
      {kSymbols[node.detail] !== '' && <path class="filled" d={kSymbols[node.detail]} />}
    </g>
  );
}

// Of the element, for aria-activedescendant.
export function nodeId(index: number): string {
  return `graph-node-${index}`;
}

function Node({ index, ...props }: SceneProps & { index: number }) {
  const { profile, measure, picture, search, chosen, actions } = props;
  const node = picture.graph.nodes[index];
  const drawn = picture.drawn[index];
  const box = picture.layout.boxes[index];
  const { label } = drawn;
  const content = drawn.width - 2 * kPadding;
  const start = box.x + (box.width - content) / 2;
  const middle = box.y + box.height / 2;
  const words = ['node', kindClass(profile, node)];
  if (node.sampled) words.push('sampled');
  if (chosen !== undefined && 'node' in chosen && chosen.node === index) words.push('chosen');
  if (search.active && node.name !== kAllThreads && search.matches(node.name)) words.push('match');
  const share = picture.graph.whole > 0 ? (node.self + node.collapsed) / picture.graph.whole : 0;
  const right = box.x + box.width - (box.width - content) / 2 - (node.callees > 0 ? kSymbolRoom : 0);
  return (
    <g
      class={words.join(' ')}
      id={nodeId(index)}
      role="button"
      aria-pressed={words.includes('chosen')}
      data-name={fullName(profile, node.name)}
      data-total={node.total}
      data-self={node.self}
      onClick={(event) => {
        event.stopPropagation();
        actions.choose({ node: index });
      }}
      onDblClick={(event) => {
        event.stopPropagation();
        actions.open(index);
      }}
    >
      <title>{nodeTitle(profile, measure, picture, node)}</title>
      <rect class="box" x={box.x} y={box.y} width={box.width} height={box.height} rx="7" />
      <rect
        class="self"
        x={box.x + 5}
        y={box.y + box.height - 4}
        width={Math.max(0, Math.min(1, share)) * (box.width - 10)}
        height="2.5"
        rx="1"
      />
      {label.left !== '' && (
        <text class="datum" x={start} y={middle}>
          {label.left}
        </text>
      )}
      <text class="label" x={start + drawn.leftWidth} y={middle}>
        {label.name}
      </text>
      {label.right !== '' && (
        <text class="datum" x={start + drawn.leftWidth + drawn.nameWidth + kPartGap} y={middle}>
          {label.right}
        </text>
      )}
      {node.callees > 0 && (
        <Symbol node={node} x={right + kSymbolRoom - 9} y={middle - 3} onStep={() => actions.step(index)} />
      )}
    </g>
  );
}

export const Scene = memo(function Scene(props: SceneProps) {
  const { picture, search } = props;
  return (
    <g class={search.active ? 'scene searching' : 'scene'}>
      <Arcs {...props} />
      <g class="nodes">
        {picture.graph.nodes.map((node, index) => (
          <Node key={node.name} index={index} {...props} />
        ))}
      </g>
    </g>
  );
});
