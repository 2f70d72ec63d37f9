// The commands of the graph, as changes of the URL.
import type { Patch } from '../state.ts';
import { kAllThreads } from './call_graph.ts';
import { formatDetails, type Settings, stepped } from './options.ts';
import type { Picture } from './picture.ts';
import type { Actions, Chosen } from './scene.tsx';

// The chosen node or arc, by names, so that it stays when the picture changes.
export function chosenOf(picture: Picture, text: string | undefined): Chosen {
  if (text === undefined) return undefined;
  const [caller, callee, place] = text.split(/[>p]/).map(Number);
  const { nodes, arcs } = picture.graph;
  const from = nodes.findIndex((node) => node.name === caller);
  if (from < 0) return undefined;
  if (callee === undefined) return { node: from };
  const arc = arcs.findIndex(
    (each) =>
      each.caller === from && nodes[each.callee].name === callee && each.place === (place ?? 0),
  );
  return arc < 0 ? undefined : { arc };
}

function formatChosen(picture: Picture, chosen: Chosen): string | undefined {
  if (chosen === undefined) return undefined;
  const { nodes, arcs } = picture.graph;
  if ('node' in chosen) return `${nodes[chosen.node].name}`;
  const { caller, callee, place } = arcs[chosen.arc];
  return `${nodes[caller].name}>${nodes[callee].name}${place === 0 ? '' : `p${place}`}`;
}

export interface Commands extends Actions {
  root(node: number): void;
  stepBy(node: number, step: 1 | -1): void;
}

export function commandsFor(
  picture: Picture,
  settings: Settings,
  navigate: (patch: Patch, replace?: boolean) => void,
): Commands {
  const nameOf = (node: number) => picture.graph.nodes[node].name;
  const stepBy = (node: number, step: 1 | -1) =>
    navigate({ 'graph.open': formatDetails(stepped(settings.details, nameOf(node), step)) }, true);
  return {
    choose: (chosen) => navigate({ 'graph.at': formatChosen(picture, chosen) }, true),
    open: (node) => {
      if (nameOf(node) !== kAllThreads) navigate({ view: 'function', fn: `${nameOf(node)}` });
    },
    step: (node) => {
      if (picture.graph.nodes[node].detail !== 'all') stepBy(node, 1);
      else {
        const details = new Map(settings.details).set(nameOf(node), 'collapsed');
        navigate({ 'graph.open': formatDetails(details) }, true);
      }
    },
    root: (node) => {
      if (nameOf(node) === kAllThreads) return;
      navigate({ 'graph.root': `${nameOf(node)}`, 'graph.filter': undefined });
    },
    stepBy,
  };
}
