// Paints the heatmap on a canvas.
import { formatTime } from '../format.ts';
import type { Theme } from '../palette.ts';
import type { Size } from '../ui/use_size.ts';
import { kInk, roundStep } from './bands.ts';
import { boxOf, type HeatLayout, kCellHeight, kMargins } from './heat.ts';

// From few ticks to the most.
const kHeats: Record<Theme, readonly (readonly [number, number, number])[]> = {
  light: [[254, 236, 205], [250, 186, 105], [235, 114, 44], [183, 40, 32], [92, 14, 20]],
  dark: [[66, 46, 24], [124, 72, 20], [200, 112, 26], [244, 176, 84], [255, 238, 204]],
};

// Roots, so that cells with few ticks differ, too.
export function heatColour(ticks: number, most: number, theme: Theme): string {
  const stops = kHeats[theme];
  const place = Math.sqrt(Math.min(Math.max(ticks / most, 0), 1)) * (stops.length - 1);
  const stop = Math.min(Math.floor(place), stops.length - 2);
  const part = place - stop;
  return `rgb(${stops[stop].map((from, i) => Math.round(from + (stops[stop + 1][i] - from) * part)).join(' ')})`;
}

export interface HeatLook {
  readonly theme: Theme;
  readonly ns: number; // in a unit of time
  readonly range?: readonly [begin: number, end: number]; // that is chosen, in cells
  format(ticks: number): string;
}

class HeatPainter {
  private readonly ink;
  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly layout: HeatLayout,
    private readonly look: HeatLook,
  ) {
    this.ink = kInk[look.theme];
  }

  paint(size: Size): void {
    const { context, ink } = this;
    context.fillStyle = ink.page;
    context.fillRect(0, 0, size.width, size.height);
    context.textBaseline = 'middle';
    this.title(size.width);
    this.cells();
    this.rows();
    this.columns(size.width);
  }

  private title(width: number): void {
    const { context, ink, layout, look } = this;
    const { heat, most } = layout;
    const y = kMargins.top / 2;
    context.fillStyle = ink.text;
    context.font = '600 13px system-ui, sans-serif';
    context.fillText('Heatmap', 12, y);
    const indent = 20 + context.measureText('Heatmap').width;
    const column = formatTime(heat.width * heat.rows, look.ns);
    context.font = '12px system-ui, sans-serif';
    context.fillStyle = ink.faint;
    context.fillText(`columns of ${column}, upwards in steps of ${formatTime(heat.width, look.ns)}`, indent, y);
    const text = `at most ${look.format(most)}`;
    let x = width - kMargins.right - context.measureText(text).width;
    if (width < 700 || most <= 0) return;
    context.fillText(text, x, y);
    x -= 68;
    for (let i = 0; i < 60; ++i) {
      context.fillStyle = heatColour(((i + 1) / 60) ** 2, 1, look.theme);
      context.fillRect(x + i, y - 5, 1, 10);
    }
  }

  private cells(): void {
    const { context, layout, look } = this;
    const [begin, end] = look.range ?? [0, layout.heat.ticks.length];
    layout.heat.ticks.forEach((ticks, cell) => {
      if (ticks <= 0) return;
      const box = boxOf(layout, cell);
      context.globalAlpha = cell >= begin && cell < end ? 1 : 0.25;
      context.fillStyle = heatColour(ticks, layout.most, look.theme);
      context.fillRect(box.x, box.y, box.width, box.height);
    });
    context.globalAlpha = 1;
  }

  // The axis of the time within a column.
  private rows(): void {
    const { context, ink, layout, look } = this;
    const { heat } = layout;
    const bottom = kMargins.top + heat.rows * kCellHeight;
    context.fillStyle = ink.line;
    context.fillRect(kMargins.left - 1, kMargins.top, 1, heat.rows * kCellHeight);
    context.fillRect(kMargins.left - 1, bottom, Math.ceil(layout.columns * layout.cellWidth) + 1, 1);
    context.fillStyle = ink.faint;
    for (const part of [0, 0.5, 1]) {
      const row = Math.round(part * heat.rows);
      const text = row === 0 ? '0' : formatTime(row * heat.width, look.ns);
      context.fillText(text, kMargins.left - 6 - context.measureText(text).width, bottom - row * kCellHeight);
    }
  }

  // The axis of time.
  private columns(width: number): void {
    const { context, ink, layout, look } = this;
    const { heat, columns, cellWidth } = layout;
    const top = kMargins.top + heat.rows * kCellHeight;
    const step = Math.max(1, Math.round(roundStep(columns, (columns * cellWidth) / 110)));
    context.fillStyle = ink.faint;
    for (let column = 0; column <= columns; column += step) {
      const x = kMargins.left + column * cellWidth;
      const text = column === 0 ? '0' : formatTime(column * heat.rows * heat.width, look.ns);
      const half = context.measureText(text).width / 2;
      context.fillRect(x, top, 1, 5);
      if (x + half < width - 4) context.fillText(text, x - half, top + 15);
    }
  }
}

export function paintHeat(context: CanvasRenderingContext2D, size: Size, layout: HeatLayout, look: HeatLook): void {
  new HeatPainter(context, layout, look).paint(size);
}
