// The timeline: samples, collections, compilations and class loads over the run, and the heatmap.
import { useMemo } from 'preact/hooks';
import type { PageData } from '../data.ts';
import { formatCount, formatTicks, formatTime } from '../format.ts';
import { useKeys } from '../keys.ts';
import { type Band, fold, paintBands } from '../timeline/bands.ts';
import { bandLook, bandsHeight, BandsPicture } from '../timeline/bands_picture.tsx';
import { layHeat } from '../timeline/heat.ts';
import { heatLook, Heatmap } from '../timeline/heatmap.tsx';
import { paintHeat } from '../timeline/paint_heat.ts';
import { RangePicker } from '../timeline/range_picker.tsx';
import { type RangeChoice, useRange } from '../timeline/use_range.ts';
import { savePng } from '../ui/save.ts';
import { SaveButtons } from '../ui/save_buttons.tsx';
import { useSize } from '../ui/use_size.ts';
import type { View, ViewProps } from '../view.ts';

export function bandsOf(data: PageData): Band[] {
  const { timeline, tick_ns: tick, ns_per_unit: ns } = data;
  const time = (value: number) => formatTime(value, ns);
  const ticks = (value: number) => formatTicks(value, tick);
  const bands: Band[] = [
    {
      title: 'Samples',
      unit: tick > 0 ? 'sampled time' : 'ticks',
      format: ticks,
      series: [
        { label: 'running', hue: 'green', values: timeline.running },
        { label: 'waiting', hue: 'grey', values: timeline.waiting },
      ],
    },
    {
      title: 'Garbage collection',
      unit: 'time in pauses',
      format: time,
      series: [{ label: 'in collections', hue: 'orange', values: timeline.gc }],
    },
    {
      title: 'JIT',
      unit: 'pieces of code',
      format: formatCount,
      series: [
        { label: 'C2', hue: 'teal', values: timeline.c2 },
        { label: 'C1', hue: 'blue', values: timeline.c1 },
        { label: 'other', hue: 'grey', values: timeline.other_code },
      ],
    },
    {
      title: 'Classes',
      unit: 'loaded',
      format: formatCount,
      series: [{ label: 'loaded', hue: 'purple', values: timeline.classes }],
    },
  ];
  return bands
    .map((band) => ({
      ...band,
      series: band.series.filter((each) => each.values.some((value) => value !== 0)),
    }))
    .filter((band) => band.series.length > 0);
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

// Of the chosen buckets; undefined: of all.
function Totals({ bands, buckets }: { bands: readonly Band[]; buckets: readonly [number, number] | undefined }) {
  return (
    <ul class="totals">
      {buckets !== undefined && <li class="faint">Of the bars that the part touches:</li>}
      {bands.flatMap((band) =>
        band.series.map((series) => (
          <li key={band.title + series.label}>
            <i class={`swatch ${series.hue}`} />
            {band.title}, {series.label}: <b>{band.format(sum(buckets === undefined ? series.values : series.values.slice(...buckets)))}</b>
          </li>
        )),
      )}
    </ul>
  );
}

function Collections({ data }: { data: PageData }) {
  const { collections, collections_left_out: more, start } = data.timeline;
  if (collections.length === 0) return null;
  const longest = collections
    .slice()
    .sort((a, b) => b[1] - b[0] - (a[1] - a[0]))
    .slice(0, 10);
  const time = (value: number) => formatTime(value, data.ns_per_unit);
  return (
    <section aria-label="Longest collections">
      <h3>
        Longest collections{' '}
        <span class="faint">of {formatCount(collections.length + more)}</span>
      </h3>
      <table class="plain">
        <thead>
          <tr>
            <th class="number">at</th>
            <th class="number">took</th>
            <th>what</th>
          </tr>
        </thead>
        <tbody>
          {longest.map(([begin, end, what]) => (
            <tr key={begin}>
              <td class="number">{time(begin - start)}</td>
              <td class="number">{time(end - begin)}</td>
              <td>
                <bdi>{what}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface PictureProps {
  data: PageData;
  bands: readonly Band[];
  theme: ViewProps['theme'];
  choice: RangeChoice;
}

// Both pictures, one below the other.
function save({ data, bands, theme, choice }: PictureProps, width: number): void {
  const { heat } = data;
  const top = { width, height: bandsHeight(bands) };
  const layout = heat && layHeat(heat, width);
  const size = { width, height: top.height + (layout?.height ?? 0) };
  savePng(`${data.title.slice(0, 60)}-timeline`, size, (context) => {
    paintBands(context, top, fold(bands, width), bandLook(data, theme, choice));
    if (layout === undefined) return;
    context.translate(0, top.height);
    paintHeat(context, { width, height: layout.height }, layout, heatLook(data, layout.heat, theme, choice));
  });
}

function Pictures({ bands, ...props }: ViewProps & { bands: readonly Band[] }) {
  const { theme } = props;
  const { data } = props.profile;
  const { heat, times, timeline } = data;
  const choice = useRange(props);
  const { range, span } = choice;
  const pictures = { data, bands, theme, choice };
  const [box, size] = useSize<HTMLDivElement>();
  const onPng = () => save(pictures, size.width);
  useKeys({ 'shift+s': onPng });
  // Bars are whole buckets.
  const buckets = span && ([Math.floor(span[0] / timeline.width), Math.ceil(span[1] / timeline.width)] as const);
  return (
    <section class="timeline" aria-label="Timeline">
      <div class="toolbar">
        <SaveButtons onPng={onPng} />
      </div>
      <BandsPicture {...pictures} box={box} size={size} />
      {heat !== undefined && <Heatmap {...pictures} heat={heat} />}
      {times !== undefined && range !== undefined && (
        <RangePicker {...{ data, times, range }} onPreview={choice.preview} onChange={choice.choose} />
      )}
      <Totals bands={bands} buckets={buckets} />
      <Collections data={data} />
    </section>
  );
}

function Timeline(props: ViewProps) {
  const bands = useMemo(() => bandsOf(props.profile.data), [props.profile]);
  if (bands.length === 0) return <p class="empty">The trace has nothing to show over time.</p>;
  return <Pictures {...props} bands={bands} />;
}

export const timelineView: View = {
  id: 'timeline',
  title: 'Timeline',
  about: 'Samples, collections, compilations and class loads over the run',
  component: Timeline,
};
