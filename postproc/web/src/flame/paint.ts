// Draws a laid out flame graph on a canvas.
import type { Profile } from '../model.ts';
import { fitted } from '../names.ts';
import { fillOf, type Theme } from '../palette.ts';
import type { Search } from '../search.ts';
import type { FlameLayout } from './layout.ts';
import type { FlameSource } from './source.ts';

export const kRowHeight = 19;
const kFont = '12px ui-monospace, "SF Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace';
const kLeastText = 28; // pixels
const kLeastName = 8; // characters beside a line

export interface Scene {
  readonly profile: Profile;
  readonly source: FlameSource;
  readonly layout: FlameLayout;
  readonly search: Search;
  readonly theme: Theme;
  readonly upwards: boolean; // the root at the bottom
  // The colour of a frame, if it is not that of its kind of code.
  fillFor?(node: number): string;
}

interface Ink {
  readonly page: string;
  readonly text: string;
  readonly hatch: string;
  readonly match: string;
  readonly matchText: string;
}

const kInk: Record<Theme, Ink> = {
  light: {
    page: '#ffffff',
    text: '#16181b',
    hatch: 'rgba(0, 0, 0, 0.13)',
    match: '#c63fd6',
    matchText: '#ffffff',
  },
  dark: {
    page: '#1a1e23',
    text: '#eef1f4',
    hatch: 'rgba(255, 255, 255, 0.13)',
    match: '#b93cc9',
    matchText: '#ffffff',
  },
};

// The name with the line that calls, or the name alone where that leaves too little of it.
function withLine(before: string, name: string, after: string, room: number): string {
  const left = room - before.length - after.length;
  return left < kLeastName ? fitted(name, room) : before + fitted(name, left) + after;
}

// Slanted lines, for frames that only samples saw.
function hatchOf(context: CanvasRenderingContext2D, color: string): CanvasPattern | null {
  const tile = document.createElement('canvas');
  const size = 6;
  tile.width = tile.height = size;
  const ink = tile.getContext('2d')!;
  ink.strokeStyle = color;
  ink.lineWidth = 1;
  ink.beginPath();
  for (const shift of [-size, 0, size]) {
    ink.moveTo(shift, size);
    ink.lineTo(shift + size, 0);
  }
  ink.stroke();
  return context.createPattern(tile, 'repeat');
}

// Where a depth's row begins in a picture of that height, and back.
export function yOf(upwards: boolean, depth: number, height: number): number {
  return upwards ? height - (depth + 1) * kRowHeight : depth * kRowHeight;
}

export function depthAt(upwards: boolean, y: number, height: number): number {
  return Math.floor((upwards ? height - y : y) / kRowHeight);
}

class Painter {
  private ink: Ink;
  private hatch: CanvasPattern | null;
  private charWidth: number;
  private fills = new Map<number, string>();

  constructor(
    private scene: Scene,
    private context: CanvasRenderingContext2D,
  ) {
    this.ink = kInk[scene.theme];
    this.hatch = hatchOf(context, this.ink.hatch);
    context.font = kFont;
    context.textBaseline = 'middle';
    this.charWidth = context.measureText('0').width;
  }

  private fill(node: number, name: number, sampled: boolean): string {
    if (this.scene.fillFor !== undefined) return this.scene.fillFor(node);
    const key = name * 2 + (sampled ? 1 : 0);
    let fill = this.fills.get(key);
    if (fill === undefined) {
      const { profile, theme } = this.scene;
      fill =
        node === 0
          ? fillOf('t', '', theme, true)
          : fillOf(profile.kind(name), profile.text(name), theme, sampled);
      this.fills.set(key, fill);
    }
    return fill;
  }

  frame(node: number, x: number, y: number, width: number, dimmed: boolean): void {
    const { scene, context, ink } = this;
    const name = scene.source.name(node);
    const sampled = scene.source.sampled(node);
    const isMatch = scene.search.active && name >= 0 && scene.search.matches(name);
    const gap = width > 3 ? 1 : width > 1.5 ? 0.5 : 0;
    context.globalAlpha = dimmed ? 0.55 : scene.search.active && !isMatch ? 0.5 : 1;
    context.fillStyle = isMatch ? ink.match : this.fill(node, name, sampled);
    context.fillRect(x, y, Math.max(width - gap, 0.5), kRowHeight - 1);
    if (sampled && width > 4 && this.hatch !== null && !isMatch) {
      context.fillStyle = this.hatch;
      context.fillRect(x, y, width - gap, kRowHeight - 1);
    }
    if (width >= kLeastText) this.label(node, name, x, y, width, isMatch);
    context.globalAlpha = 1;
  }

  private label(node: number, name: number, x: number, y: number, width: number, match: boolean) {
    const { scene, context } = this;
    const text = node === 0 ? scene.source.rootLabel : scene.profile.text(name);
    const room = Math.floor((width - 8) / this.charWidth);
    context.fillStyle = match ? this.ink.matchText : this.ink.text;
    const shown = withLine(scene.source.before(node), text, scene.source.after(node), room);
    // Wide letters (CJK) need more room than they count.
    if (/[^\x00-\x7f]/.test(shown)) context.fillText(shown, x + 4, y + kRowHeight / 2, width - 8);
    else context.fillText(shown, x + 4, y + kRowHeight / 2);
  }
}

// The part of the picture from `scroll` on, of `height` pixels in all, on a canvas of that size.
export function paint(
  scene: Scene,
  context: CanvasRenderingContext2D,
  view: { width: number; height: number; scroll: number; content: number },
): void {
  context.fillStyle = kInk[scene.theme].page;
  context.fillRect(0, 0, view.width, view.height);
  const painter = new Painter(scene, context);
  scene.layout.rows.forEach((row, depth) => {
    const y = yOf(scene.upwards, depth, view.content) - view.scroll;
    if (y + kRowHeight < 0 || y > view.height) return;
    for (let i = 0; i < row.node.length; ++i) {
      painter.frame(row.node[i], row.x[i], y, row.width[i], depth < scene.layout.zoomDepth);
    }
  });
}
