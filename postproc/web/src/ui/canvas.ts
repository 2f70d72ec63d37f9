// A canvas's pixels for a size on the page, sharp on dense screens.
import type { Size } from './use_size.ts';

export function contextFor(canvas: HTMLCanvasElement, size: Size): CanvasRenderingContext2D {
  const ratio = window.devicePixelRatio || 1;
  const width = Math.max(1, Math.round(size.width * ratio));
  const height = Math.max(1, Math.round(size.height * ratio));
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  canvas.style.width = `${size.width}px`;
  canvas.style.height = `${size.height}px`;
  const context = canvas.getContext('2d')!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}
