// A laid out flame graph as an SVG file: the whole picture, with a tooltip for each frame. No DOM here.
import { formatPercent } from '../format.ts';
import type { Measure } from '../measure.ts';
import { fitted } from '../names.ts';
import { fillOf } from '../palette.ts';
import { kRowHeight, type Scene, yOf } from './paint.ts';

const kCharWidth = 7.3; // of 12 px monospace
const kLeastText = 28; // pixels

// Programs other than browsers know few forms of colours.
export function hexOf(hsl: string): string {
  if (hsl.startsWith('#')) return hsl;
  const [hue, saturation, light] = (hsl.match(/-?[\d.]+/g) ?? []).map(Number);
  const chroma = (saturation / 100) * Math.min(light / 100, 1 - light / 100);
  const channel = (shift: number) => {
    const at = (shift + hue / 30 + 12) % 12;
    const value = light / 100 - chroma * Math.max(-1, Math.min(at - 3, 9 - at, 1));
    return Math.round(255 * Math.min(Math.max(value, 0), 1)).toString(16).padStart(2, '0');
  };
  return `#${channel(0)}${channel(8)}${channel(4)}`;
}

// XML has no control characters, even escaped ones.
export function printable(text: string): string {
  return text.replace(/[\x00-\x08\x0b-\x1f\ufffe\uffff]/g, '\ufffd');
}

function escaped(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return printable(text).replace(/[&<>"]/g, (letter) => entities[letter]);
}

function frameOf(scene: Scene, measure: Measure, node: number, x: number, y: number, width: number): string {
  const { source, profile, theme } = scene;
  const name = source.name(node);
  const text = node === 0 ? source.rootLabel : profile.text(name);
  const kind = node === 0 ? 't' : profile.kind(name);
  const value = source.value(node);
  const title = `${source.before(node)}${text}${source.after(node)}: ${measure.format(value)}, ${formatPercent(value, measure.whole)}`;
  const usual = () => fillOf(kind, node === 0 ? '' : text, theme, source.sampled(node));
  const fill = hexOf(scene.fillFor?.(node) ?? usual());
  const label =
    width < kLeastText
      ? ''
      : `<text x="${(x + 4).toFixed(1)}" y="${y + 13}">${escaped(fitted(text, Math.floor((width - 8) / kCharWidth)))}</text>`;
  return `<g><title>${escaped(title)}</title><rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(width - 0.5, 0.5).toFixed(1)}" height="${kRowHeight - 1}" fill="${fill}"/>${label}</g>`;
}

export function flameSvg(scene: Scene, measure: Measure, width: number): string {
  const { layout, upwards, theme } = scene;
  const height = layout.rows.length * kRowHeight;
  const [page, ink] = theme === 'dark' ? ['#1a1e23', '#eef1f4'] : ['#ffffff', '#16181b'];
  const frames = layout.rows.flatMap((row, depth) =>
    row.node.map((node, i) => frameOf(scene, measure, node, row.x[i], yOf(upwards, depth, height), row.width[i])),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<rect width="100%" height="100%" fill="${page}"/>`,
    `<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="12" fill="${ink}">`,
    ...frames,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}
