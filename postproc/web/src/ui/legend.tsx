// The meaning of the colours.
import { useMemo } from 'preact/hooks';
import type { FrameKind, Profile } from '../model.ts';
import { fillOf, legendOf, type Theme } from '../palette.ts';

export function Legend({ profile, theme }: { profile: Profile; theme: Theme }) {
  const entries = useMemo(() => legendOf(profile.data.kinds as Iterable<string> as Iterable<FrameKind>), [profile]);
  const hasSampled = useMemo(() => profile.data.nodes.origin.includes('s'), [profile]);
  return (
    <ul class="legend" aria-label="Colours">
      {entries.map(({ kind, label }) => (
        <li key={label}>
          <i style={{ background: fillOf(kind, '', theme, false) }} />
          {label}
        </li>
      ))}
      {hasSampled && (
        <li>
          <i class="hatched" />
          only sampled
        </li>
      )}
    </ul>
  );
}
