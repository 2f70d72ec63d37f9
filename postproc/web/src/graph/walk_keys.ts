// The targets of the arrow keys: up and down along the widest arc, left and right to the next box
// of about the same height.
import type { Picture } from './picture.ts';

export function neighbour(picture: Picture, from: number, key: string): number {
  const { graph, layout } = picture;
  if (key === 'ArrowDown' || key === 'ArrowUp') {
    const down = key === 'ArrowDown';
    // Arcs are in the order of what flows through them.
    const arc = graph.arcs.find(
      (each) => (down ? each.caller : each.callee) === from && each.caller !== each.callee,
    );
    return arc === undefined ? from : down ? arc.callee : arc.caller;
  }
  const here = layout.boxes[from];
  const side = key === 'ArrowRight' ? 1 : -1;
  let best = from;
  let least = Infinity;
  layout.boxes.forEach((box, i) => {
    const aside = side * (box.x + box.width / 2 - here.x - here.width / 2);
    if (i === from || aside <= 0) return;
    const distance = aside + 6 * Math.abs(box.y - here.y);
    if (distance >= least) return;
    least = distance;
    best = i;
  });
  return best;
}
