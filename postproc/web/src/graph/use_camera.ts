// Where the window stands over the drawing.
import { useMemo, useState } from 'preact/hooks';
import { type Camera, type Extent, kept, opening } from './camera.ts';
import type { Picture } from './picture.ts';

// The camera, which begins anew with another drawing of another root or measure.
export function useCamera(picture: Picture, window: Extent, key: string) {
  const drawing = picture.layout;
  const source = drawing.boxes[0];
  const [moved, setMoved] = useState<{ key: string; camera: Camera } | undefined>();
  const first = useMemo(
    () => opening(drawing, window, source.x + source.width / 2),
    [drawing, window.width, window.height],
  );
  const camera = moved?.key === key ? moved.camera : first;
  const move = (next: Camera) => setMoved({ key, camera: kept(next, drawing, window) });
  return { camera, move };
}
