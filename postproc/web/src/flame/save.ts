// A flame graph as a file, with all its rows.
import type { Measure } from '../measure.ts';
import { savePng, saveSvg } from '../ui/save.ts';
import { kRowHeight, paint, type Scene } from './paint.ts';
import { flameSvg } from './svg.ts';

export function saveFlameSvg(name: string, scene: Scene, measure: Measure, width: number): void {
  saveSvg(name, flameSvg(scene, measure, width));
}

export function saveFlamePng(name: string, scene: Scene, width: number): void {
  const size = { width, height: scene.layout.rows.length * kRowHeight };
  savePng(name, size, (context) => paint(scene, context, { ...size, scroll: 0, content: size.height }));
}
