// Saves pictures as files of the person at the browser. Nothing leaves the page.
import type { Size } from './use_size.ts';

const kScale = 2; // pixels of a PNG for each of the page: sharp in print
// What browsers draw at most.
const kMostPixels = 60e6;
const kLongestSide = 16_384;

function saveFile(name: string, extension: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = `${name.replace(/[^\w.-]+/g, '_').slice(0, 80)}.${extension}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export function saveSvg(name: string, text: string): void {
  saveFile(name, 'svg', new Blob([text], { type: 'image/svg+xml' }));
}

export function scaleFor({ width, height }: Size): number {
  return Math.min(kScale, kLongestSide / Math.max(width, height, 1), Math.sqrt(kMostPixels / Math.max(width * height, 1)));
}

// `draw` paints a picture of that size.
export function savePng(name: string, size: Size, draw: (context: CanvasRenderingContext2D) => void): void {
  const scale = scaleFor(size);
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(size.width * scale));
  canvas.height = Math.max(1, Math.round(size.height * scale));
  const context = canvas.getContext('2d')!;
  context.scale(scale, scale);
  draw(context);
  canvas.toBlob((content) => {
    if (content !== null) saveFile(name, 'png', content);
  });
}

// A text of SVG as PNG.
export function saveSvgAsPng(name: string, size: Size, svg: string): void {
  const image = new Image();
  image.onload = () => savePng(name, size, (context) => context.drawImage(image, 0, 0, size.width, size.height));
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
}
