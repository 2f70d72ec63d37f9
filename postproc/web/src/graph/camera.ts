// The part of the drawing in the window: screen = drawing · scale + (x, y).

export interface Camera {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

export interface Extent {
  readonly width: number;
  readonly height: number;
}

const kLeast = 0.05;
const kMost = 4;
const kReadable = 0.62; // labels can be read from here on

// Keeps the point of the drawing under (atX, atY) there.
export function zoomed(camera: Camera, factor: number, atX: number, atY: number): Camera {
  const scale = Math.min(kMost, Math.max(kLeast, camera.scale * factor));
  const ratio = scale / camera.scale;
  return { scale, x: atX - (atX - camera.x) * ratio, y: atY - (atY - camera.y) * ratio };
}

// A part of the drawing always stays in the window.
export function kept(camera: Camera, drawing: Extent, window: Extent): Camera {
  const margin = 60;
  const clamp = (at: number, size: number, room: number) =>
    Math.min(room - margin, Math.max(margin - size * camera.scale, at));
  return {
    scale: camera.scale,
    x: clamp(camera.x, drawing.width, window.width),
    y: clamp(camera.y, drawing.height, window.height),
  };
}

// All of it.
export function fitted(drawing: Extent, window: Extent): Camera {
  const scale = Math.min(
    1.15,
    window.width / Math.max(1, drawing.width),
    window.height / Math.max(1, drawing.height),
  );
  return {
    scale,
    x: (window.width - drawing.width * scale) / 2,
    y: Math.max(0, (window.height - drawing.height * scale) / 2),
  };
}

// All of it if that is readable, else the part around the source, from the top.
export function opening(drawing: Extent, window: Extent, sourceX: number): Camera {
  const all = fitted(drawing, window);
  if (all.scale >= kReadable) return all;
  const scale = Math.max(kReadable, Math.min(0.85, window.width / Math.max(1, drawing.width)));
  const isNarrow = drawing.width * scale <= window.width;
  const x = isNarrow ? (window.width - drawing.width * scale) / 2 : window.width / 2 - sourceX * scale;
  return kept({ scale, x, y: 0 }, drawing, window);
}

// Whether a box around that point of the drawing can be seen.
export function isInside(camera: Camera, x: number, y: number, window: Extent): boolean {
  const [atX, atY] = [x * camera.scale + camera.x, y * camera.scale + camera.y];
  return atX > 60 && atX < window.width - 60 && atY > 30 && atY < window.height - 30;
}

export function centredOn(camera: Camera, x: number, y: number, window: Extent): Camera {
  return {
    scale: camera.scale,
    x: window.width / 2 - x * camera.scale,
    y: window.height / 2 - y * camera.scale,
  };
}
