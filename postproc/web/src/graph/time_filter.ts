// The time filter: the least share of the whole that a function must have, with its callees, to be
// shown. postproc/graph/time_filter.cc computes the same.

export const kGreatestFilter = 20; // percent
export const kFilterStep = 0.1;
const kStepsPerPercent = 10;
const kShownAtFirst = 30;
const kFewestShownAtFirst = 3;

export function percentOf(part: number, whole: number): number {
  return whole === 0 ? 0 : (100 * part) / whole;
}

// The total of the 30th function in percent, rounded up to the next step, at most 20; the step below
// where the rounding hides nearly all; 0 if there are no more than 30.
export function firstFilter(totals: readonly number[], whole: number): number {
  if (whole <= 0 || totals.length <= kShownAtFirst) return 0;
  const nth = [...totals].sort((a, b) => b - a)[kShownAtFirst - 1];
  const steps = Math.max(1, Math.ceil(percentOf(nth, whole) * kStepsPerPercent - 1e-9));
  const filter = Math.min(steps / kStepsPerPercent, kGreatestFilter);
  const shown = totals.filter((total) => percentOf(total, whole) >= filter).length;
  if (nth > 0 && shown < kFewestShownAtFirst) return (steps - 1) / kStepsPerPercent;
  return filter;
}
