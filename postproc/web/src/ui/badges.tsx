// The badges of trust.
import type { Badge } from '../trust.ts';

const kSigns = { good: '✓', fair: '!', bad: '✕' } as const;

export function Badges({ badges }: { badges: readonly Badge[] }) {
  return (
    <ul class="badges" aria-label="How far the numbers can be trusted">
      {badges.map((badge) => (
        <li key={badge.id} class={`badge ${badge.tone}`} data-badge={badge.id} title={badge.about}>
          <i aria-hidden="true">{kSigns[badge.tone]}</i> {badge.text}
        </li>
      ))}
    </ul>
  );
}
