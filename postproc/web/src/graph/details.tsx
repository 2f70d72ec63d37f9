// The selection: a routine, or an arc with its calling paths.
import { counted, formatCount, formatPercent } from '../format.ts';
import type { Measure } from '../measure.ts';
import type { Profile } from '../model.ts';
import type { Patch } from '../state.ts';
import { SourceButton } from '../ui/source_button.tsx';
import { placeText } from '../sites.ts';
import { type CallGraph, type CallingPath, type GraphArc, kAllThreads, pathsOf } from './call_graph.ts';
import { fullName } from './label.ts';
import type { Chosen } from './scene.tsx';

interface DetailsProps {
  profile: Profile;
  measure: Measure;
  graph: CallGraph;
  chosen: Chosen;
  onRoot(node: number): void;
  onOpen(node: number): void;
  onStep(node: number, step: 1 | -1): void;
  navigate(patch: Patch): void;
}

const kMostPaths = 8;

function Facts({ facts }: { facts: readonly [string, string][] }) {
  return (
    <dl>
      {facts.map(([key, value]) => (
        <div key={key}>
          <dt>{key}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function NodeDetails(props: DetailsProps & { index: number }) {
  const { profile, measure, graph, index } = props;
  const node = graph.nodes[index];
  const amount = (value: number) => `${measure.format(value)} · ${formatPercent(value, graph.whole)}`;
  const facts: [string, string][] = [
    ['total', amount(node.total)],
    ['self', amount(node.self)],
  ];
  if (node.collapsed > 0) facts.push(['collapsed into it', amount(node.collapsed)]);
  if (node.calls > 0 && node.name !== kAllThreads) facts.push(['calls', formatCount(node.calls)]);
  facts.push(['calls to', `${counted(node.callees, 'function')}, ${node.detail === 'filtered' ? 'those above the filter' : node.detail === 'all' ? 'all' : 'none'} shown`]);
  if (node.sampled) facts.push(['seen by', 'only samples']);
  return (
    <>
      <bdi class="graph-name">{fullName(profile, node.name)}</bdi>
      <Facts facts={facts} />
      <span class="buttons">
        <button type="button" title="[" disabled={node.detail === 'collapsed'} onClick={() => props.onStep(index, -1)}>
          Collapse
        </button>
        <button type="button" title="]" disabled={node.detail === 'all'} onClick={() => props.onStep(index, 1)}>
          Show more
        </button>
        {node.name !== kAllThreads && (
          <>
            <button type="button" title="R" onClick={() => props.onRoot(index)}>
              Make it 100 %
            </button>
            <button type="button" title="Enter" onClick={() => props.onOpen(index)}>
              Function
            </button>
            <SourceButton profile={profile} navigate={props.navigate} name={node.name} />
          </>
        )}
      </span>
    </>
  );
}

// "main > app.A.run():120 > app.B.work()"
function textOf(profile: Profile, { nodes }: CallingPath): string {
  const line = (i: number) => (i + 1 < nodes.length ? placeText(profile.place[nodes[i + 1]]) : '');
  return nodes.map((node, i) => profile.nameOf(node) + line(i)).join(' > ');
}

function ArcDetails({ profile, measure, graph, arc }: DetailsProps & { arc: GraphArc }) {
  const name = (index: number) => fullName(profile, graph.nodes[index].name);
  const facts: [string, string][] = [
    ['through it', `${measure.format(arc.inclusive)} · ${formatPercent(arc.inclusive, graph.whole)}`],
    ['of the callee', formatPercent(arc.total, graph.nodes[arc.callee].total)],
    ['calls', arc.calls > 0 ? formatCount(arc.calls) : 'not counted: samples saw it'],
  ];
  if (arc.callsCollapsed > 0) facts.push(['by collapsed callers', formatCount(arc.callsCollapsed)]);
  if (arc.recursion !== 'none') {
    const words = { self: 'calls itself', back: 'the callee was active already', partly: 'sometimes the callee was active already' };
    facts.push(['recursion', words[arc.recursion]]);
  }
  const paths = pathsOf(profile, measure, graph, arc, kMostPaths);
  return (
    <>
      <bdi class="graph-name">
        {name(arc.caller)}
        {placeText(arc.place)} → {name(arc.callee)}
      </bdi>
      <Facts facts={facts} />
      <ol class="graph-paths" aria-label="Calling paths">
        {paths.map((path, i) => (
          <li key={i}>
            <span class="amount">
              {measure.format(path.value)} · {formatPercent(path.value, graph.whole)}
              {path.calls > 0 ? ` · ${counted(path.calls, 'call')}` : ''}
            </span>
            <bdi>{textOf(profile, path)}</bdi>
          </li>
        ))}
      </ol>
    </>
  );
}

export function DetailsPanel(props: DetailsProps) {
  const { chosen, graph } = props;
  return (
    <div class="graph-details" aria-live="polite">
      {chosen === undefined ? (
        <p>
          Click a function or an arc; double click opens the function. Drag and wheel move and zoom. Arrow keys go along
          the arcs, [ and ] show less and more of what a function calls, R makes it 100 %.
        </p>
      ) : 'arc' in chosen ? (
        <ArcDetails {...props} arc={graph.arcs[chosen.arc]} />
      ) : (
        <NodeDetails {...props} index={chosen.node} />
      )}
    </div>
  );
}
