// The widths of arcs: the "river of time". T is the share, from 0 to 1, of the whole that flows
// through an arc; widths are in pixels. postproc/report/arc_width.cc computes the same.

export type ArcWidths = 'none' | 'linear' | 'logarithmic' | 'adaptive';
export const kArcWidths: readonly ArcWidths[] = ['none', 'linear', 'logarithmic', 'adaptive'];

const kGreatest = 10;
// The error that a quotient such as 3/10 may have when it is multiplied by 10.
const kRounding = 1e-9;

function adaptive(t: number, least: number): number {
  if (t >= 1) return kGreatest;
  if (least <= 0 || t <= least) return 1;
  return 1 + (kGreatest - 1) * (1 - Math.log(t) / Math.log(least));
}

// `least`: the smallest T above 0 of all arcs shown; only for 'adaptive'.
export function arcWidth(widths: ArcWidths, t: number, least: number): number {
  switch (widths) {
    case 'none':
      return 1;
    case 'linear':
      return Math.min(kGreatest, Math.max(1, Math.ceil(kGreatest * t - kRounding)));
    case 'logarithmic':
      return Math.min(9, Math.max(1, Math.log2(1000 * t + 0.0001)));
    case 'adaptive':
      return adaptive(t, least);
  }
}

// Of all arcs of a picture.
export function arcWidthsOf(widths: ArcWidths, shares: readonly number[]): number[] {
  let least = 1;
  for (const t of shares) if (t > 0 && t < least) least = t;
  return shares.map((t) => arcWidth(widths, t, least));
}
