// The widths of arcs: the "river of time". T is the share, from 0 to 1, of the whole that flows
// through an arc; widths are in pixels. postproc/report/arc_width.cc computes the same.

export type ArcCurve = 'none' | 'linear' | 'logarithmic' | 'adaptive' | 'exponential' | 'table';
export const kArcCurves: readonly ArcCurve[] = [
  'none', 'linear', 'logarithmic', 'adaptive', 'exponential', 'table',
];

// Arcs have this width from that share on.
export interface WidthStep {
  readonly from: number; // T
  readonly width: number;
}

export interface ArcWidths {
  readonly curve: ArcCurve;
  readonly steps: readonly WidthStep[]; // of a table, by `from`; below the first one: 1
}

export const kFirstTable = '1:2,10:5,50:9'; // percent and pixels
const kGreatest = 10;
const kMostPixels = 100;
// The error that a quotient such as 3/10 may have when it is multiplied by 10.
const kRounding = 1e-9;

// The name of a curve, or a table such as kFirstTable; undefined: neither.
export function parseArcWidths(text: string): ArcWidths | undefined {
  const curve = kArcCurves.find((each) => each === text);
  if (curve !== undefined) return curve === 'table' ? undefined : { curve, steps: [] };
  const steps: WidthStep[] = [];
  for (const part of text.split(',')) {
    const match = /^(\d+(?:\.\d+)?):(\d+(?:\.\d+)?)$/.exec(part.trim());
    if (match === null) return undefined;
    const [from, width] = [Number(match[1]) / 100, Number(match[2])];
    const last = steps.at(-1)?.from ?? -1;
    if (from > 1 || from <= last || width <= 0 || width > kMostPixels) return undefined;
    steps.push({ from, width });
  }
  return { curve: 'table', steps };
}

export function formatArcWidths({ curve, steps }: ArcWidths): string {
  if (curve !== 'table') return curve;
  return steps.map(({ from, width }) => `${Number((from * 100).toPrecision(12))}:${width}`).join(',');
}

function adaptive(t: number, least: number): number {
  if (t >= 1) return kGreatest;
  if (least <= 0 || t <= least) return 1;
  return 1 + (kGreatest - 1) * (1 - Math.log(t) / Math.log(least));
}

// `least`: the smallest T above 0 of all arcs shown; only for 'adaptive'.
export function arcWidth({ curve, steps }: ArcWidths, t: number, least: number): number {
  switch (curve) {
    case 'none':
      return 1;
    case 'linear':
      return Math.min(kGreatest, Math.max(1, Math.ceil(kGreatest * t - kRounding)));
    case 'logarithmic':
      return Math.min(9, Math.max(1, Math.log2(1000 * t + 0.0001)));
    case 'adaptive':
      return adaptive(t, least);
    case 'exponential':
      return 12 - 11 * Math.exp(-t);
    case 'table':
      return steps.reduce((width, step) => (t >= step.from ? step.width : width), 1);
  }
}

// Of all arcs of a picture.
export function arcWidthsOf(widths: ArcWidths, shares: readonly number[]): number[] {
  let least = 1;
  for (const t of shares) if (t > 0 && t < least) least = t;
  return shares.map((t) => arcWidth(widths, t, least));
}
