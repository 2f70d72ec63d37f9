// A share of the whole as a bar with its number.
import { formatPercent } from '../format.ts';

interface ShareProps {
  part: number;
  whole: number;
  text?: string; // instead of the percent
}

export function Share({ part, whole, text }: ShareProps) {
  if (part === 0) return null;
  const share = whole > 0 ? Math.min(Math.max(part / whole, 0), 1) : 0;
  return (
    <span class="share">
      <i style={{ width: `${100 * share}%` }} />
      <span>{text ?? formatPercent(part, whole)}</span>
    </span>
  );
}
