// Leads to the source of a routine, if the page has it.
import { toSource } from '../links.ts';
import type { Profile } from '../model.ts';
import type { Patch } from '../state.ts';

interface SourceButtonProps {
  profile: Profile;
  name: number; // as in Profile.name
  navigate(patch: Patch): void;
}

export function SourceButton({ profile, name, navigate }: SourceButtonProps) {
  const place = profile.sources.placeOf(name);
  if (place === undefined) return null;
  return (
    <button type="button" title="The counts of its lines" onClick={() => navigate(toSource(place))}>
      Source
    </button>
  );
}
