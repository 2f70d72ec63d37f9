// The colour of a kind of code, with its word for those who cannot see it.
import type { FrameKind } from '../model.ts';
import { fillOf, kindLabel } from '../palette.ts';
import { useTheme } from '../theme.ts';

export function KindDot({ kind }: { kind: FrameKind }) {
  const label = kindLabel(kind);
  return (
    <i
      class="dot"
      role="img"
      aria-label={label}
      title={label}
      style={{ background: fillOf(kind, '', useTheme(), false) }}
    />
  );
}
