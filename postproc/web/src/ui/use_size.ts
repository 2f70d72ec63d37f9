// The size of an element, as it changes.
import { createRef, type RefObject } from 'preact';
import { useLayoutEffect, useMemo, useState } from 'preact/hooks';

export interface Size {
  readonly width: number;
  readonly height: number;
}

export function useSize<T extends HTMLElement>(): [RefObject<T | null>, Size] {
  const ref = useMemo(() => createRef<T>() as RefObject<T | null>, []);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = ref.current!;
    const measure = () => {
      const { clientWidth: width, clientHeight: height } = element;
      setSize((old) => (old.width === width && old.height === height ? old : { width, height }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, size];
}
