// Bands of stacked bars over one axis of time, on a canvas.
import type { Theme } from '../palette.ts';
import type { Size } from '../ui/use_size.ts';

export type Hue = 'green' | 'grey' | 'orange' | 'teal' | 'blue' | 'purple';

export interface Series {
  readonly label: string;
  readonly hue: Hue;
  readonly values: readonly number[];
}

export interface Band {
  readonly title: string;
  readonly unit: string;
  readonly series: readonly Series[];
  format(value: number): string;
}

export interface FoldedBands {
  readonly bands: readonly Band[];
  readonly bucketsPerColumn: number;
  readonly columns: number;
}

const kLeft = 12; // pixels around the bars
const kRight = 12;
const kAxis = 26;
const kTitle = 30;
const kGap = 10;
const kNarrowestBar = 4;

const kFills: Record<Theme, Record<Hue, string>> = {
  light: {
    green: '#43a35c', grey: '#b4bbc4', orange: '#e08a1e', teal: '#2aa3a3', blue: '#5b8fd6', purple: '#a06cc9',
  },
  dark: {
    green: '#5dbb76', grey: '#5d6874', orange: '#e79b3b', teal: '#45b8b8', blue: '#6f9fe0', purple: '#b587da',
  },
};
export const kInk: Record<Theme, { page: string; text: string; faint: string; line: string }> = {
  light: { page: '#ffffff', text: '#1c1f23', faint: '#59626c', line: '#dfe3e7' },
  dark: { page: '#1a1e23', text: '#e8ebee', faint: '#9aa5b1', line: '#343b43' },
};

// Buckets summed up so that a bar is wide enough to see.
export function fold(bands: readonly Band[], width: number): FoldedBands {
  const buckets = Math.max(0, ...bands.flatMap((band) => band.series.map((s) => s.values.length)));
  const most = Math.max(1, Math.floor((width - kLeft - kRight) / kNarrowestBar));
  const step = Math.max(1, Math.ceil(buckets / most));
  const columns = Math.ceil(buckets / step);
  const foldOne = (values: readonly number[]) => {
    const sums = new Array<number>(columns).fill(0);
    values.forEach((value, i) => (sums[Math.floor(i / step)] += value));
    return sums;
  };
  return {
    columns,
    bucketsPerColumn: step,
    bands: bands.map((band) => ({
      ...band,
      series: band.series.map((series) => ({ ...series, values: foldOne(series.values) })),
    })),
  };
}

// Where that is on the axis, in buckets.
export function bucketAt({ columns, bucketsPerColumn }: FoldedBands, width: number, x: number): number {
  const share = Math.min(Math.max((x - kLeft) / (width - kLeft - kRight), 0), 1);
  return share * columns * bucketsPerColumn;
}

export function columnAt({ columns }: FoldedBands, width: number, x: number): number {
  const column = Math.floor(((x - kLeft) / (width - kLeft - kRight)) * columns);
  return column >= 0 && column < columns ? column : -1;
}

// A round step so that about `count` of them add up to `whole`.
export function roundStep(whole: number, count: number): number {
  const rough = whole / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const digit = [1, 2, 5, 10].find((each) => each * power >= rough) ?? 10;
  return digit * power;
}

export interface BandLook {
  readonly theme: Theme;
  readonly duration: number;
  readonly column: number; // under the pointer; -1: none
  readonly range?: readonly [begin: number, end: number]; // that is chosen, in buckets
  formatTime(value: number): string;
}

function stackAt(band: Band, column: number): number {
  return band.series.reduce((sum, series) => sum + series.values[column], 0);
}

class BandPainter {
  private ink;
  private barWidth: number;

  constructor(
    private context: CanvasRenderingContext2D,
    private size: Size,
    private folded: FoldedBands,
    private look: BandLook,
  ) {
    this.ink = kInk[look.theme];
    this.barWidth = (size.width - kLeft - kRight) / Math.max(folded.columns, 1);
  }

  band(band: Band, top: number, height: number): void {
    const { context, ink } = this;
    const bottom = top + height - kGap;
    const room = height - kGap - kTitle;
    let peak = 0;
    for (let i = 0; i < this.folded.columns; ++i) peak = Math.max(peak, stackAt(band, i));
    context.fillStyle = ink.text;
    context.font = '600 13px system-ui, sans-serif';
    context.fillText(band.title, kLeft, top + kTitle / 2);
    const indent = context.measureText(band.title).width + 8;
    context.font = '12px system-ui, sans-serif';
    context.fillStyle = ink.faint;
    context.fillText(`${band.unit}, at most ${band.format(peak)} a bar`, kLeft + indent, top + kTitle / 2);
    this.key(band, top + kTitle / 2);
    for (let i = 0; i < this.folded.columns; ++i) {
      let y = bottom;
      for (const series of band.series) {
        const size = peak > 0 ? (series.values[i] / peak) * room : 0;
        if (size <= 0) continue;
        const seen = Math.max(size, 1);
        y -= seen;
        context.fillStyle = kFills[this.look.theme][series.hue];
        const gap = this.barWidth > 3 ? 1 : 0;
        context.fillRect(kLeft + i * this.barWidth, y, this.barWidth - gap, seen);
      }
    }
    context.fillStyle = ink.line;
    context.fillRect(kLeft, bottom, this.size.width - kLeft - kRight, 1);
  }

  // The meaning of the colours, on the right.
  private key(band: Band, y: number): void {
    if (band.series.length < 2) return;
    const { context } = this;
    let x = this.size.width - kRight;
    for (const series of band.series.slice().reverse()) {
      x -= context.measureText(series.label).width;
      context.fillStyle = this.ink.faint;
      context.fillText(series.label, x, y);
      x -= 14;
      context.fillStyle = kFills[this.look.theme][series.hue];
      context.fillRect(x, y - 5, 10, 10);
      x -= 14;
    }
  }

  axis(top: number): void {
    const { context, ink, look, size } = this;
    const width = size.width - kLeft - kRight;
    const step = roundStep(look.duration, width / 110);
    context.fillStyle = ink.faint;
    for (let at = 0; at <= look.duration * 1.0001 && step > 0; at += step) {
      const x = kLeft + (at / look.duration) * width;
      const text = at === 0 ? '0' : look.formatTime(at);
      const shift = Math.min(context.measureText(text).width / 2, x - kLeft);
      context.fillRect(x, top, 1, 5);
      if (x - shift + 2 * shift < size.width - 4) context.fillText(text, x - shift, top + 15);
    }
  }

  // What is not chosen is dim.
  range(bandHeight: number): void {
    const { context, folded, look, size } = this;
    if (look.range === undefined) return;
    const buckets = folded.columns * folded.bucketsPerColumn;
    const plot = size.width - kLeft - kRight;
    const [begin, end] = look.range.map((bucket) => kLeft + (Math.min(bucket, buckets) / buckets) * plot);
    for (let i = 0; i < folded.bands.length; ++i) {
      const top = i * bandHeight + kTitle;
      const height = bandHeight - kTitle;
      context.globalAlpha = 0.72;
      context.fillStyle = this.ink.page;
      context.fillRect(0, top, begin, height);
      context.fillRect(end, top, size.width - end, height);
      context.globalAlpha = 1;
      context.fillStyle = this.ink.text;
      context.fillRect(begin - 1, top, 1, height);
      context.fillRect(end, top, 1, height);
    }
  }

  pointer(height: number): void {
    if (this.look.column < 0) return;
    this.context.globalAlpha = 0.16;
    this.context.fillStyle = this.ink.text;
    this.context.fillRect(kLeft + this.look.column * this.barWidth, 0, this.barWidth, height);
    this.context.globalAlpha = 1;
  }
}

export function paintBands(
  context: CanvasRenderingContext2D,
  size: Size,
  folded: FoldedBands,
  look: BandLook,
): void {
  context.fillStyle = kInk[look.theme].page;
  context.fillRect(0, 0, size.width, size.height);
  context.textBaseline = 'middle';
  const painter = new BandPainter(context, size, folded, look);
  const height = (size.height - kAxis) / folded.bands.length;
  folded.bands.forEach((band, i) => painter.band(band, i * height, height));
  painter.range(height);
  painter.axis(size.height - kAxis + 2);
  painter.pointer(size.height - kAxis);
}
