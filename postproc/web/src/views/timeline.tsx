// The timeline: samples, collections, compilations and class loads over the run.
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { PageData } from '../data.ts';
import type { Fact } from '../facts.ts';
import { formatCount, formatPercent, formatTicks, formatTime } from '../format.ts';
import { formatRange, parseRange, rangeOf, type TimeRange } from '../time_range.ts';
import { type Band, bucketAt, columnAt, fold, paintBands } from '../timeline/bands.ts';
import { RangePicker } from '../timeline/range_picker.tsx';
import { useKeys } from '../keys.ts';
import { contextFor } from '../ui/canvas.ts';
import { savePng } from '../ui/save.ts';
import { SaveButtons } from '../ui/save_buttons.tsx';
import { Tooltip } from '../ui/tooltip.tsx';
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

function Bands({ profile, theme, bands, state, navigate }: ViewProps & { bands: readonly Band[] }) {
  const { data } = profile;
  const { times } = data;
  const dragFrom = useRef(-1); // a bucket
  const [preview, setPreview] = useState<TimeRange>();
  const range = preview ?? (times && (parseRange(data, state.range) ?? { from: 0, to: times.count }));
  const isPart = times !== undefined && range !== undefined && formatRange(times, range) !== undefined;
  const chosen = isPart ? ([range.from * times.width, range.to * times.width] as const) : undefined;
  const choose = (next: TimeRange) => {
    setPreview(undefined);
    navigate({ range: formatRange(times!, next) }, true);
  };
  const [box, size] = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [pointer, setPointer] = useState<{ x: number; y: number; column: number }>();
  const buckets = data.timeline.gc.length;
  const folded = useMemo(() => fold(bands, size.width), [bands, size.width]);
  const look = {
    theme,
    duration: data.timeline.width * buckets,
    formatTime: (value: number) => formatTime(value, data.ns_per_unit),
    range: chosen,
  };
  useLayoutEffect(() => {
    if (size.width === 0) return;
    paintBands(contextFor(canvas.current!, size), size, folded, { ...look, column: pointer?.column ?? -1 });
  });
  const save = () =>
    savePng(`${data.title.slice(0, 60)}-timeline`, size, (context) => paintBands(context, size, folded, { ...look, column: -1 }));
  useKeys({ 'shift+s': save });
  const bucketUnder = (event: MouseEvent) =>
    bucketAt(folded, size.width, event.clientX - canvas.current!.getBoundingClientRect().left);
  // A click chooses nothing.
  const draggedTo = (event: MouseEvent) => {
    const from = dragFrom.current;
    const at = bucketUnder(event);
    const isDrag = from >= 0 && Math.abs(at - from) > folded.bucketsPerColumn / 2;
    return isDrag && times !== undefined ? rangeOf(times, from, at) : undefined;
  };
  const facts: Fact[] = [];
  let at = '';
  if (pointer !== undefined) {
    const width = data.timeline.width * folded.bucketsPerColumn;
    at = `${formatTime(pointer.column * width, data.ns_per_unit)} to ${formatTime((pointer.column + 1) * width, data.ns_per_unit)}`;
    for (const band of folded.bands) {
      for (const series of band.series) {
        const value = series.values[pointer.column] ?? 0;
        const share = band.title === 'Garbage collection' ? ` (${formatPercent(value, width)})` : '';
        facts.push([`${band.title}, ${series.label}`, band.format(value) + share]);
      }
    }
  }
  return (
    <section class="timeline" aria-label="Timeline">
      <div class="toolbar">
        <SaveButtons onPng={save} />
      </div>
      <div class="bands" ref={box} style={{ height: `${bands.length * 122 + 26}px` }}>
        <canvas
          ref={canvas}
          role="img"
          aria-label={`Over the run: ${bands.map((band) => `${band.title} (${band.unit})`).join(', ')}. The sums are below.`}
          onPointerDown={(event) => {
            if (times === undefined || event.button !== 0) return;
            canvas.current!.setPointerCapture(event.pointerId);
            dragFrom.current = bucketUnder(event);
          }}
          onPointerUp={(event) => {
            const dragged = draggedTo(event);
            dragFrom.current = -1;
            setPreview(undefined);
            if (dragged !== undefined) choose(dragged);
          }}
          onPointerCancel={() => {
            dragFrom.current = -1;
            setPreview(undefined);
          }}
          onPointerMove={(event) => {
            if (dragFrom.current >= 0) setPreview(draggedTo(event));
            const left = canvas.current!.getBoundingClientRect().left;
            const column = columnAt(folded, size.width, event.clientX - left);
            setPointer(column < 0 ? undefined : { x: event.clientX, y: event.clientY, column });
          }}
          onPointerLeave={() => setPointer(undefined)}
        />
      </div>
      {times !== undefined && range !== undefined && <RangePicker {...{ data, times, range }} onPreview={setPreview} onChange={choose} />}
      <Totals bands={bands} buckets={chosen} />
      <Collections data={data} />
      {pointer !== undefined && (
        <Tooltip x={pointer.x} y={pointer.y} title={at} facts={facts} />
      )}
    </section>
  );
}

function Timeline(props: ViewProps) {
  const bands = useMemo(() => bandsOf(props.profile.data), [props.profile]);
  if (bands.length === 0) return <p class="empty">The trace has nothing to show over time.</p>;
  return <Bands {...props} bands={bands} />;
}

export const timelineView: View = {
  id: 'timeline',
  title: 'Timeline',
  about: 'Samples, collections, compilations and class loads over the run',
  component: Timeline,
};
