// The drawn graph: labels measured, boxes laid out, arcs with their widths.
import type { Measure } from '../measure.ts';
import type { Profile } from '../model.ts';
import { placeText } from '../sites.ts';
import { arcWidthsOf } from './arc_width.ts';
import { buildGraph, type CallGraph, costsOf, routineTotals } from './call_graph.ts';
import { datumOf, type Drawn, drawnLabel, fullName, shortName, type TextWidth } from './label.ts';
import { layOut, type Layout } from './layout.ts';
import type { Settings } from './options.ts';
import { firstFilter, kFilterStep } from './time_filter.ts';

// Beyond that nothing is readable, and browsers get slow: only who sets the filter to 0 % gets more.
export const kMostNodes = 600;

const kLineGap = 3; // pixels
const kMostLines = 12; // of a function's arcs that have their line beside them

export interface Picture {
  readonly graph: CallGraph;
  readonly filter: number; // percent
  readonly firstFilter: number;
  readonly drawn: readonly Drawn[]; // by node
  readonly widths: readonly number[]; // by arc
  readonly lines: readonly string[]; // by arc: the line that calls, if there is room
  readonly layout: Layout;
}

// Arcs are in the order of what flows through them.
function linesOf(graph: CallGraph): string[] {
  const shown = new Map<number, number>(); // by caller
  return graph.arcs.map(({ caller, place }) => {
    const count = shown.get(caller) ?? 0;
    if (place === 0 || count === kMostLines) return '';
    shown.set(caller, count + 1);
    return placeText(place);
  });
}

export function makePicture(
  profile: Profile,
  measure: Measure,
  settings: Settings,
  widthOf: TextWidth,
): Picture {
  const { root, details } = settings;
  const costs = costsOf(profile, measure, root);
  const totals = routineTotals(profile, costs);
  const least = totals.length > kMostNodes && costs.whole > 0 ? kFilterStep : 0;
  const first = Math.max(firstFilter(totals, costs.whole), least);
  const filter = settings.filter ?? first;
  const most = filter === 0 ? Infinity : kMostNodes;
  const graph = buildGraph(profile, measure, { root, filter, details, most });
  const widths = arcWidthsOf(
    settings.widths,
    graph.arcs.map((arc) => (settings.widthBy === 'self' ? arc.selfShare : arc.share)),
  );
  const drawn = graph.nodes.map((node) =>
    drawnLabel(
      {
        left: datumOf(graph, measure, node, settings.left),
        name: shortName(fullName(profile, node.name), settings.nameLength),
        right: datumOf(graph, measure, node, settings.right),
      },
      node.callees > 0,
      widthOf,
    ),
  );
  const lines = linesOf(graph);
  const links = graph.arcs.map((arc, i) => ({
    from: arc.caller,
    to: arc.callee,
    width: widths[i],
    room: lines[i] === '' ? 0 : widthOf(lines[i], 'datum') + kLineGap,
  }));
  return { graph, filter, firstFilter: first, drawn, widths, lines, layout: layOut(drawn, links) };
}
