// The item under the pointer.
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Fact } from '../facts.ts';

const kDistance = 14; // pixels from the pointer

export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface TooltipProps {
  x: number; // of the pointer, in the window
  y: number;
  title: string;
  note?: string;
  facts: readonly Fact[];
}

export function Tooltip({ x, y, title, note, facts }: TooltipProps) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { style, offsetWidth, offsetHeight } = box.current!;
    const right = x + kDistance + offsetWidth < innerWidth;
    const below = y + kDistance + offsetHeight < innerHeight;
    style.left = `${Math.max(4, right ? x + kDistance : x - kDistance - offsetWidth)}px`;
    style.top = `${Math.max(4, below ? y + kDistance : y - kDistance - offsetHeight)}px`;
  });
  return (
    <div class="tooltip" ref={box} role="tooltip">
      <bdi dir="ltr" class="tooltip-title">
        {title}
      </bdi>
      {note !== undefined && <div class="faint">{note}</div>}
      <Facts facts={facts} />
    </div>
  );
}
