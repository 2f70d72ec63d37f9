// The row of each box of a layered drawing. Arcs point down; those that would close a cycle point
// up and do not count.

export interface Link {
  readonly from: number;
  readonly to: number;
  readonly width: number; // pixels
  readonly room?: number; // for its text where it meets boxes, if that is wider
}

export function roomOf(link: Link): number {
  return Math.max(link.width, link.room ?? 0);
}

export interface Layers {
  readonly row: Int32Array; // by box
  readonly rows: number;
  readonly up: boolean[]; // by link: it closes a cycle, or is a loop
}

// Depth first from box 0, wide links first: so the thin link is treated as the way back.
export function layersOf(boxes: number, links: readonly Link[]): Layers {
  const out: number[][] = Array.from({ length: boxes }, () => []);
  links.forEach((link, i) => out[link.from].push(i));
  for (const list of out) list.sort((a, b) => links[b].width - links[a].width || a - b);
  const up = links.map((link) => link.from === link.to);
  const state = new Uint8Array(boxes); // 1: on the path, 2: done
  const finished: number[] = [];
  for (let start = 0; start < boxes; ++start) {
    if (state[start] !== 0) continue;
    const path = [{ box: start, next: 0 }];
    state[start] = 1;
    while (path.length > 0) {
      const top = path[path.length - 1];
      if (top.next === out[top.box].length) {
        state[top.box] = 2;
        finished.push(top.box);
        path.pop();
        continue;
      }
      const index = out[top.box][top.next++];
      const { to } = links[index];
      if (state[to] === 1) {
        up[index] = true;
      } else if (state[to] === 0) {
        state[to] = 1;
        path.push({ box: to, next: 0 });
      }
    }
  }
  const row = new Int32Array(boxes);
  for (const box of finished.reverse()) {
    for (const index of out[box]) {
      const { to } = links[index];
      if (!up[index]) row[to] = Math.max(row[to], row[box] + 1);
    }
  }
  let rows = 0;
  for (const each of row) rows = Math.max(rows, each + 1);
  return { row, rows, up };
}
