// The width of a text on the page; graph.css has the same fonts.
import type { TextWidth } from './label.ts';

const kFonts = { name: '600 12px system-ui, sans-serif', datum: '11px system-ui, sans-serif' };

export function makeTextWidth(): TextWidth {
  const context = document.createElement('canvas').getContext('2d');
  const known = new Map<string, number>();
  return (text, font) => {
    const key = font + text;
    let width = known.get(key);
    if (width === undefined) {
      if (context !== null) context.font = kFonts[font];
      width = context?.measureText(text).width ?? 7 * text.length;
      known.set(key, width);
    }
    return width;
  };
}
