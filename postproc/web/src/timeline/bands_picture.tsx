// Bands over the run; a drag chooses a part of it.
import type { RefObject } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { PageData } from '../data.ts';
import type { Fact } from '../facts.ts';
import { formatPercent, formatTime } from '../format.ts';
import type { Theme } from '../palette.ts';
import { rangeOf } from '../time_range.ts';
import { contextFor } from '../ui/canvas.ts';
import { Tooltip } from '../ui/tooltip.tsx';
import type { Size } from '../ui/use_size.ts';
import { type Band, type BandLook, bucketAt, columnAt, fold, type FoldedBands, paintBands } from './bands.ts';
import type { RangeChoice } from './use_range.ts';

export const kBorders = 2; // pixels of a box above and below its picture

export function bandsHeight(bands: readonly Band[]): number {
  return bands.length * 122 + 26;
}

export function bandLook(data: PageData, theme: Theme, { span }: RangeChoice): BandLook {
  const { width, gc } = data.timeline;
  return {
    theme,
    duration: width * gc.length,
    formatTime: (value: number) => formatTime(value, data.ns_per_unit),
    range: span && [span[0] / width, span[1] / width],
    column: -1,
  };
}

// What the bars of a column say.
function factsAt(data: PageData, { bands, bucketsPerColumn }: FoldedBands, column: number): Fact[] {
  const width = data.timeline.width * bucketsPerColumn;
  return bands.flatMap((band) =>
    band.series.map((series): Fact => {
      const value = series.values[column] ?? 0;
      const share = band.title === 'Garbage collection' ? ` (${formatPercent(value, width)})` : '';
      return [`${band.title}, ${series.label}`, band.format(value) + share];
    }),
  );
}

interface BandsProps {
  data: PageData;
  bands: readonly Band[];
  theme: Theme;
  choice: RangeChoice;
  box: RefObject<HTMLDivElement | null>;
  size: Size; // of the box
}

export function BandsPicture({ data, bands, theme, choice, box, size }: BandsProps) {
  const { times } = data;
  const dragFrom = useRef(-1); // a bucket
  const canvas = useRef<HTMLCanvasElement>(null);
  const [pointer, setPointer] = useState<{ x: number; y: number; column: number }>();
  const folded = useMemo(() => fold(bands, size.width), [bands, size.width]);
  useLayoutEffect(() => {
    if (size.width === 0) return;
    const look = { ...bandLook(data, theme, choice), column: pointer?.column ?? -1 };
    paintBands(contextFor(canvas.current!, size), size, folded, look);
  });
  const bucketUnder = (event: MouseEvent) =>
    bucketAt(folded, size.width, event.clientX - canvas.current!.getBoundingClientRect().left);
  // A click chooses nothing.
  const draggedTo = (event: MouseEvent) => {
    const from = dragFrom.current;
    const at = bucketUnder(event);
    const isDrag = from >= 0 && Math.abs(at - from) > folded.bucketsPerColumn / 2;
    const { width } = data.timeline;
    return isDrag && times !== undefined ? rangeOf(data, from * width, at * width) : undefined;
  };
  const stop = () => {
    dragFrom.current = -1;
    choice.preview(undefined);
  };
  const at = (column: number) => formatTime(column * data.timeline.width * folded.bucketsPerColumn, data.ns_per_unit);
  return (
    <div class="bands" ref={box} style={{ height: `${bandsHeight(bands) + kBorders}px` }}>
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
          stop();
          if (dragged !== undefined) choice.choose(dragged);
        }}
        onPointerCancel={stop}
        onPointerMove={(event) => {
          if (dragFrom.current >= 0) choice.preview(draggedTo(event));
          const left = canvas.current!.getBoundingClientRect().left;
          const column = columnAt(folded, size.width, event.clientX - left);
          setPointer(column < 0 ? undefined : { x: event.clientX, y: event.clientY, column });
        }}
        onPointerLeave={() => setPointer(undefined)}
      />
      {pointer !== undefined && (
        <Tooltip
          x={pointer.x}
          y={pointer.y}
          title={`${at(pointer.column)} to ${at(pointer.column + 1)}`}
          facts={factsAt(data, folded, pointer.column)}
        />
      )}
    </div>
  );
}
