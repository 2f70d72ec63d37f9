// The whole call graph as SVG, as the page draws it: its styles become attributes.
import { printable } from '../flame/svg.ts';
import type { Size } from '../ui/use_size.ts';

const kProperties = [
  'fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-opacity', 'stroke-dasharray', 'stroke-linejoin', 'opacity',
  'font-family', 'font-size', 'font-weight', 'text-anchor', 'dominant-baseline', 'paint-order',
];
const kNamespace = 'http://www.w3.org/2000/svg';

function withOwnStyle(drawn: Element, copy: Element): void {
  const style = getComputedStyle(drawn);
  for (const property of kProperties) copy.setAttribute(property, style.getPropertyValue(property));
  for (const { name } of Array.from(copy.attributes)) {
    if (/^(class|id|role|aria-|data-)/.test(name)) copy.removeAttribute(name);
  }
}

// `picture`: the pane's drawing, with its definitions and the scene.
export function graphSvg(picture: SVGSVGElement, { width, height }: Size): string {
  const scene = picture.querySelector('.scene')!;
  const copy = scene.cloneNode(true) as Element;
  const drawn = scene.querySelectorAll('*');
  const copies = Array.from(copy.querySelectorAll('*'));
  copies.forEach((each, i) => {
    if (drawn[i].tagName !== 'title') withOwnStyle(drawn[i], each);
  });
  copy.removeAttribute('class');
  // What only the pointer finds.
  copies.forEach((each, i) => drawn[i].classList.contains('reach') && each.remove());
  const page = getComputedStyle(picture.parentElement!).backgroundColor;
  const definitions = new XMLSerializer().serializeToString(picture.querySelector('defs')!);
  const body = new XMLSerializer().serializeToString(copy);
  return printable(
    `<svg xmlns="${kNamespace}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">` +
      `<rect width="100%" height="100%" fill="${page}"/>${definitions}${body}</svg>\n`,
  );
}
