// The part of the run that is chosen, or that a person is choosing.
import { useState } from 'preact/hooks';
import { formatRange, parseRange, timesOf, type TimeRange } from '../time_range.ts';
import type { ViewProps } from '../view.ts';

export interface RangeChoice {
  readonly range?: TimeRange; // missing: the data has no times to choose
  readonly span?: readonly [begin: number, end: number]; // from the timeline's beginning; missing: all
  preview(range: TimeRange | undefined): void; // while something moves
  choose(range: TimeRange): void;
}

export function useRange({ profile: { data }, state, navigate }: ViewProps): RangeChoice {
  const [preview, setPreview] = useState<TimeRange>();
  const { times } = data;
  const range = preview ?? (times && (parseRange(data, state.range) ?? { from: 0, to: times.count }));
  const isPart = times !== undefined && range !== undefined && formatRange(times, range) !== undefined;
  return {
    range,
    span: isPart ? timesOf(data, range) : undefined,
    preview: setPreview,
    choose: (next) => {
      setPreview(undefined);
      navigate({ range: formatRange(times!, next) }, true);
    },
  };
}
