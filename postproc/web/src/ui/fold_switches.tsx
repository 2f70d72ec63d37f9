// Folds the frames of what is not the program: buttons and keys. State: fold.
import { formatLayers, kLayers, layersOf, type Layer, parseLayers, toggledLayer } from '../folding.ts';
import { useKeys } from '../keys.ts';
import { forgetNumbers } from '../links.ts';
import type { Profile } from '../model.ts';
import type { ViewProps } from '../view.ts';

function presentIn(profile: Profile): readonly (typeof kLayers)[number][] {
  const present = new Set(layersOf(profile.data));
  return kLayers.filter((layer) => present.has(layer));
}

export function FoldSwitches({ profile, state, navigate }: ViewProps) {
  const layers = parseLayers(state.fold);
  const present = presentIn(profile);
  const fold = (next: ReadonlySet<Layer>) => navigate({ ...forgetNumbers(state), fold: formatLayers(next) });
  const all = new Set(present.map(({ id }) => id));
  const toggleAll = () => fold(present.every(({ id }) => layers.has(id)) ? new Set() : all);
  useKeys({
    ...(present.length > 0 && { f: toggleAll }),
    ...Object.fromEntries(present.map(({ id, key }) => [key, () => fold(toggledLayer(layers, id))])),
  });
  if (present.length === 0) return null;
  return (
    <div class="toggle" role="group" aria-label="Fold">
      <button type="button" class="toggle-label" onClick={toggleAll} title="Fold all of these, or none (F)">
        Fold
      </button>
      {present.map(({ id, label, hint, key }) => (
        <button
          key={id}
          type="button"
          aria-pressed={layers.has(id)}
          title={`Runs of ${hint} as one frame (${key.toUpperCase()})`}
          onClick={() => fold(toggledLayer(layers, id))}
        >
          {label}
        </button>
      ))}
    </div>
  );
}
