// Says that the views show a part of the run, and what of them does not.
import { formatPercent } from '../format.ts';
import { rangeText } from '../time_range.ts';
import type { ViewProps } from '../view.ts';

export function RangeBanner({ profile, measure, state, navigate }: ViewProps) {
  const { range, merge } = profile.data;
  if (range === undefined) return null;
  const isSummary = (state.view ?? 'summary') === 'summary';
  return (
    <p class="range-banner" role="note">
      <b>Samples from {rangeText(profile.data, range)}</b>, {formatPercent(measure.whole, merge.ticks)} of all. Calls
      and exact times cannot be divided by time: they are those of the whole run
      {isSummary ? ', and so is what this view says above the flame graph' : ''}.
      <button type="button" title="Esc" onClick={() => navigate({ range: undefined })}>
        Whole run
      </button>
    </p>
  );
}
