// The heatmap: when in each second samples were taken. A drag, or Enter, chooses a part of the run.
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Heat, PageData } from '../data.ts';
import { counted, formatTicks, formatTime } from '../format.ts';
import { keyName } from '../keys.ts';
import type { Theme } from '../palette.ts';
import { rangeOf } from '../time_range.ts';
import { contextFor } from '../ui/canvas.ts';
import { Tooltip } from '../ui/tooltip.tsx';
import { useSize } from '../ui/use_size.ts';
import { kBorders } from './bands_picture.tsx';
import { boxOf, cellAt, type HeatLayout, hottest, layHeat, spanOf, stepFrom } from './heat.ts';
import { type HeatLook, paintHeat } from './paint_heat.ts';
import type { RangeChoice } from './use_range.ts';

// Of the cells between the two; the last one moves.
interface Marked {
  readonly from: number;
  readonly to: number;
}

export function heatLook(data: PageData, heat: Heat, theme: Theme, { span }: RangeChoice): HeatLook {
  return {
    theme,
    ns: data.ns_per_unit,
    range: span && [span[0] / heat.width, span[1] / heat.width],
    format: (ticks) => formatTicks(ticks, data.tick_ns),
  };
}

// "12.0 s + 340 ms: 50.0 ms".
function cellText(data: PageData, heat: Heat, cell: number): string {
  const row = cell % heat.rows;
  const time = (cells: number) => (cells === 0 ? '0' : formatTime(cells * heat.width, data.ns_per_unit));
  const ticks = heat.ticks[cell];
  const amount = data.tick_ns > 0 ? formatTicks(ticks, data.tick_ns) : counted(ticks, 'sample tick');
  return `${time(cell - row)} + ${time(row)}: ${amount}`;
}

function Mark({ layout, cell }: { layout: HeatLayout; cell: number }) {
  const { x, y, width, height } = boxOf(layout, cell);
  const style = { left: `${x - 2}px`, top: `${y - 2}px`, width: `${width + 4}px`, height: `${height + 4}px` };
  return <i class="mark selected" style={style} />;
}

interface HeatmapProps {
  data: PageData;
  heat: Heat;
  theme: Theme;
  choice: RangeChoice;
}

export function Heatmap({ data, heat, theme, choice }: HeatmapProps) {
  const [box, size] = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [marked, setMarked] = useState<Marked>(); // by keys
  const [pointer, setPointer] = useState<{ x: number; y: number; cell: number }>();
  const dragFrom = useRef(-1);
  const layout = useMemo(() => layHeat(heat, size.width), [heat, size.width]);
  useLayoutEffect(() => {
    if (size.width > 0) paintHeat(contextFor(canvas.current!, size), size, layout, heatLook(data, heat, theme, choice));
  });
  const rangeTo = (from: number, to: number) => rangeOf(data, ...spanOf(heat, from, to));
  const under = (event: MouseEvent, isDrag = false) => {
    const { left, top } = canvas.current!.getBoundingClientRect();
    return cellAt(layout, event.clientX - left, event.clientY - top, isDrag);
  };
  const stop = () => {
    dragFrom.current = -1;
    choice.preview(undefined);
  };
  const onKey = (event: KeyboardEvent) => {
    const old = marked ?? { from: hottest(heat), to: hottest(heat) };
    if (event.key === 'Enter' || event.key === ' ') {
      choice.choose(rangeTo(old.from, old.to));
    } else {
      const to = stepFrom(heat, old.to, event.key);
      if (to === undefined) return;
      const isWider = keyName(event).startsWith('shift+');
      setMarked({ from: isWider ? old.from : to, to });
      choice.preview(isWider ? rangeTo(old.from, to) : undefined);
    }
    event.preventDefault();
  };
  return (
    <div class="heatmap" ref={box} style={{ height: `${layout.height + kBorders}px` }}>
      <canvas
        ref={canvas}
        tabIndex={0}
        role="application"
        aria-label="Heatmap of samples: arrow keys go from cell to cell, with Shift they mark a part of the run, Enter chooses it"
        aria-describedby="heat-cell"
        onFocus={() => setMarked(marked ?? { from: hottest(heat), to: hottest(heat) })}
        onBlur={() => choice.preview(undefined)}
        onKeyDown={onKey}
        onPointerDown={(event) => {
          const cell = under(event);
          if (cell < 0 || event.button !== 0) return;
          canvas.current!.setPointerCapture(event.pointerId);
          dragFrom.current = cell;
        }}
        onPointerUp={(event) => {
          const from = dragFrom.current;
          const to = under(event, true);
          stop();
          if (from < 0) return;
          setMarked({ from, to });
          choice.choose(rangeTo(from, to));
        }}
        onPointerCancel={stop}
        onPointerMove={(event) => {
          if (dragFrom.current >= 0) choice.preview(rangeTo(dragFrom.current, under(event, true)));
          const cell = under(event);
          setPointer(cell < 0 ? undefined : { x: event.clientX, y: event.clientY, cell });
        }}
        onPointerLeave={() => setPointer(undefined)}
      />
      {marked !== undefined && marked.to < heat.ticks.length && <Mark layout={layout} cell={marked.to} />}
      <output id="heat-cell" class="heat-cell">
        {marked !== undefined && marked.to < heat.ticks.length && cellText(data, heat, marked.to)}
      </output>
      {pointer !== undefined && pointer.cell < heat.ticks.length && (
        <Tooltip x={pointer.x} y={pointer.y} title={cellText(data, heat, pointer.cell)} facts={[]} />
      )}
    </div>
  );
}
