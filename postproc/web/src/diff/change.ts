// How a number changed: words, and the step of the colour. No DOM here.
import type { DiffMeasure } from './model.ts';

// -4 to 4: shrunk to less than half … the same … more than doubled.
export type Step = -4 | -3 | -2 | -1 | 0 | 1 | 2 | 3 | 4;

// The greater of both is that many times the lesser, or more: one step further.
const kRatios = [1.02, 1.1, 1.5, 2];

export const kStepWords: readonly string[] = [
  'to less than half', 'by a third to half', 'by a tenth to a third', 'by 2 to 10 %', 'the same, within 2 %',
  'by 2 to 10 %', 'by 10 to 50 %', 'by half to double', 'to more than double',
];

export function stepOfChange(before: number, after: number): Step {
  const [less, more] = before < after ? [before, after] : [after, before];
  if (more === less) return 0;
  const ratio = less > 0 ? more / less : Infinity;
  const step = kRatios.filter((each) => ratio > each).length;
  return (before < after ? step : -step) as Step;
}

// "+12.5 %", "+250 %", "×14.0", "new", "gone", "=".
export function growthOf(before: number, after: number): string {
  if (before === after) return '=';
  if (before === 0) return 'new';
  if (after === 0) return 'gone';
  const percent = (100 * (after - before)) / Math.abs(before);
  if (percent >= 1000) return `×${(after / before).toFixed(1)}`;
  const digits = Math.abs(percent) < 0.05 ? 2 : Math.abs(percent) < 100 ? 1 : 0;
  return `${percent < 0 ? '−' : '+'}${Math.abs(percent).toFixed(digits)} %`;
}

export function deltaOf(measure: Pick<DiffMeasure, 'format'>, before: number, after: number): string {
  const delta = after - before;
  return delta === 0 ? '0' : `${delta < 0 ? '−' : '+'}${measure.format(Math.abs(delta))}`;
}

// "480 ns → 990 ns, +510 ns (+106.3 %)"
export function changeText(measure: Pick<DiffMeasure, 'format'>, before: number, after: number): string {
  const numbers = `${measure.format(before)} → ${measure.format(after)}`;
  return before === after ? `${numbers}, the same` : `${numbers}, ${deltaOf(measure, before, after)} (${growthOf(before, after)})`;
}

export const kStateWords: Record<string, string> = { s: 'same', c: 'changed', a: 'appeared', v: 'vanished' };
