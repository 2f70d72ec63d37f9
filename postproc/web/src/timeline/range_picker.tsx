// Chooses a part of the run by two sliders, for those who do not drag over the picture.
import type { PageData, Times } from '../data.ts';
import { rangeText, type TimeRange } from '../time_range.ts';

const kSteps = 128; // of a slider, at most

interface PickerProps {
  data: PageData;
  times: Times;
  range: TimeRange;
  onPreview(range: TimeRange): void; // while a slider moves
  onChange(range: TimeRange): void;
}

export function RangePicker({ data, times, range, onPreview, onChange }: PickerProps) {
  const withFrom = (from: number) => ({ from, to: Math.max(range.to, from + 1) });
  const withTo = (to: number) => ({ from: Math.min(range.from, to - 1), to: Math.min(to, times.count) });
  const step = Math.ceil(times.count / kSteps);
  const steps = Math.ceil(times.count / step); // the last one may be shorter
  const slider = (label: string, least: number, value: number, to: (value: number) => TimeRange) => (
    <label>
      {label}
      <input
        type="range"
        min={least}
        max={(steps - 1) * step + least}
        step={step}
        value={value}
        onInput={(event) => onPreview(to(Number(event.currentTarget.value)))}
        onChange={(event) => onChange(to(Number(event.currentTarget.value)))}
      />
    </label>
  );
  return (
    <div class="range-picker" role="group" aria-label="Part of the run">
      {slider('From', 0, range.from, withFrom)}
      {slider('to', step, range.to, withTo)}
      <output>{rangeText(data, range)}</output>
      <span class="faint">Or drag over a picture. All views then show the samples of that time.</span>
    </div>
  );
}
