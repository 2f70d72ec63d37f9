// Frames of the JDK, the JVM and native code folded: each run of them on a path is one node with
// all their numbers. No DOM here.
import type { PageData } from './data.ts';
import { type Merged, mergeNodes, unchanged } from './merged_nodes.ts';
import type { FrameKind } from './model.ts';

export type Layer = 'jdk' | 'jvm' | 'native';
export interface LayerInfo {
  readonly id: Layer;
  readonly label: string;
  readonly name: string; // of its nodes
  readonly mark: number; // the same in NodeColumns.name; -1 is [pruned]
  readonly kind: FrameKind; // for the colour
  readonly key: string;
  readonly hint: string;
}

export const kLayers: readonly LayerInfo[] = [
  { id: 'jdk', label: 'JDK', name: '[JDK]', mark: -2, kind: 'E', key: 'j', hint: "methods of the JDK's classes" },
  { id: 'jvm', label: 'JVM', name: '[JVM]', mark: -3, kind: 'V', key: 'v', hint: "the JVM's own code" },
  { id: 'native', label: 'Native', name: '[native]', mark: -4, kind: 'N', key: 'b', hint: 'native code and the kernel' },
];
export const kMarks: readonly string[] = ['[pruned]', ...kLayers.map(({ name }) => name)];

// The layer of a routine, by its number; undefined: the program's, or a marker.
export function layersOf({ kinds, owners }: PageData): (LayerInfo | undefined)[] {
  const [jdk, jvm, native] = kLayers;
  return Array.from(kinds, (kind, name) => {
    if (owners[name] === 'j') return jdk;
    return kind === 'V' ? jvm : kind === 'N' || kind === 'n' || kind === 'K' ? native : undefined;
  });
}

// The layers that are folded, as the page's state has them: "jdk.jvm".
export function parseLayers(text: string | undefined): ReadonlySet<Layer> {
  const words = new Set((text ?? '').split('.'));
  return new Set(kLayers.map(({ id }) => id).filter((id) => words.has(id)));
}

export function formatLayers(layers: ReadonlySet<Layer>): string | undefined {
  return layers.size === 0 ? undefined : kLayers.map(({ id }) => id).filter((id) => layers.has(id)).join('.');
}

export function toggledLayer(layers: ReadonlySet<Layer>, layer: Layer): ReadonlySet<Layer> {
  const next = new Set(layers);
  if (!next.delete(layer)) next.add(layer);
  return next;
}

// A sum over nodes is what it was. Least and greatest times, and how many samples had a node on
// their chains, are not known of a run of frames.
export function foldLayers(data: PageData, layers: ReadonlySet<Layer>): Merged {
  const { nodes } = data;
  const layerOf = layersOf(data);
  const fateOf = unchanged(nodes);
  const markOf = (node: number) => {
    const layer = nodes.name[node] >= 0 ? layerOf[nodes.name[node]] : undefined;
    return layer !== undefined && layers.has(layer.id) ? layer.mark : 0;
  };
  const merged = mergeNodes(nodes, true, (old, parent) => {
    const fate = fateOf(old);
    const mark = markOf(old);
    const above = parent < 0 ? 0 : markOf(parent);
    // A place in folded code is not a place in its node.
    const place = above === 0 ? fate.place : 0;
    return { ...fate, place, name: mark === 0 ? fate.name : mark, into: mark !== 0 && above === mark };
  });
  merged.nodes.name.forEach((name, node) => {
    if (name >= -1) return;
    merged.nodes.min[node] = merged.nodes.max[node] = null;
    merged.nodes.samples[node] = 0;
  });
  return merged;
}
