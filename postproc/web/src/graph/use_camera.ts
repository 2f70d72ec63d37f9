// The window's position over the drawing.
import { useMemo, useState } from 'preact/hooks';
import { type Camera, centredOn, type Extent, isInside, kept, opening } from './camera.ts';
import type { Picture } from './picture.ts';

// The first camera shows the source, and in any case the box `shown`, if there is one.
function firstCamera({ layout }: Picture, window: Extent, shown: number | undefined): Camera {
  const source = layout.boxes[0];
  const camera = opening(layout, window, source.x + source.width / 2);
  if (shown === undefined) return camera;
  const box = layout.boxes[shown];
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  return isInside(camera, x, y, window) ? camera : kept(centredOn(camera, x, y, window), layout, window);
}

// The camera is reset when `key` changes, and stays where it was moved until then.
export function useCamera(picture: Picture, window: Extent, key: string, shown: number | undefined) {
  const [moved, setMoved] = useState<{ key: string; camera: Camera } | undefined>();
  const first = useMemo(
    () => firstCamera(picture, window, shown),
    [picture, window.width, window.height, shown],
  );
  const camera = moved?.key === key ? moved.camera : first;
  const move = (next: Camera) => setMoved({ key, camera: kept(next, picture.layout, window) });
  return { camera, move };
}
