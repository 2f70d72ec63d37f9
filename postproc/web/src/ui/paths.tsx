// The calling paths of an arc: its places in the tree, hottest first.
import type { Arc } from '../arcs.ts';
import { formatCount, formatPercent } from '../format.ts';
import type { Measure } from '../measure.ts';
import type { Profile } from '../model.ts';
import { shortName } from '../names.ts';
import { placeText } from '../sites.ts';

const kMostPaths = 50;

interface PathsProps {
  profile: Profile;
  measure: Measure;
  arc: Arc;
  onShow(node: number): void;
}

export function Paths({ profile, measure, arc, onShow }: PathsProps) {
  const nodes = arc.nodes
    .slice()
    .sort((a, b) => measure.total[b] - measure.total[a] || a - b)
    .slice(0, kMostPaths);
  return (
    <section class="paths" aria-label="Calling paths">
      <h3>
        Calling paths <span class="faint">{formatCount(arc.nodes.length)}</span>
      </h3>
      <ol>
        {nodes.map((node) => (
          <li key={node}>
            <button type="button" onClick={() => onShow(node)} title="Shows it in the flame graph">
              <b>{measure.format(measure.total[node])}</b>{' '}
              <span class="faint">{formatPercent(measure.total[node], arc.total)}</span>
            </button>
            <span class="path">
              {profile.path(node).map((step, i, path) => (
                <span key={step} title={profile.nameOf(step)}>
                  {i > 0 && <span class="faint"> › </span>}
                  <bdi dir="ltr">
                    {shortName(profile.nameOf(step))}
                    {i + 1 < path.length && <span class="site">{placeText(profile.place[path[i + 1]])}</span>}
                  </bdi>
                </span>
              ))}
            </span>
          </li>
        ))}
      </ol>
      {arc.nodes.length > kMostPaths && (
        <p class="faint">and {formatCount(arc.nodes.length - kMostPaths)} more, all smaller</p>
      )}
    </section>
  );
}
