// One side of a routine: its callers or its callees, each a button that shows the arc's paths.
import type { Arc } from '../arcs.ts';
import { counted, formatCount, formatPercent, formatTime } from '../format.ts';
import type { Measure } from '../measure.ts';
import type { Profile } from '../model.ts';
import { placeText } from '../sites.ts';
import { KindDot } from './kind_dot.tsx';
import { Name } from './name.tsx';

const kMostRows = 200;

interface ArcListProps {
  profile: Profile;
  measure: Measure;
  title: string;
  side: string; // in the URL
  arcs: readonly Arc[];
  whole: number; // what a share is of
  chosen: string;
  onChoose(id: string): void;
  onOpen(name: number): void;
}

export function arcId(side: string, arc: Arc): string {
  const place = arc.place === 0 ? '' : `p${arc.place}`;
  return `${side}${arc.other}${arc.recursive ? 'r' : ''}${place}`;
}

// The least and the greatest self time of a call; only a clock knows them.
function Extremes({ profile, arc }: { profile: Profile; arc: Arc }) {
  const isTimed = profile.measures.some(({ id }) => id === 'time');
  if (!isTimed || arc.min === null || arc.max === null || arc.calls === 0) return null;
  const time = (value: number) => formatTime(value, profile.data.ns_per_unit);
  return (
    <span data-min={arc.min} data-max={arc.max} title="Least and most self time of one call">
      {' · '}
      {time(arc.min)} to {time(arc.max)} self
    </span>
  );
}

export function ArcList(props: ArcListProps) {
  const { profile, measure, side, arcs, whole, chosen } = props;
  return (
    <div class="arcs">
      <h3>
        {props.title} <span class="faint">{formatCount(arcs.length)}</span>
      </h3>
      {arcs.length === 0 && <p class="faint">none</p>}
      <ul>
        {arcs.slice(0, kMostRows).map((arc) => {
          const id = arcId(side, arc);
          const line = placeText(arc.place);
          const share = whole > 0 ? Math.min(arc.total / whole, 1) : 0;
          return (
            <li key={id}>
              <button
                type="button"
                class="arc"
                data-arc={id}
                aria-pressed={id === chosen}
                title="Shows the paths of this arc"
                onClick={() => props.onChoose(id === chosen ? '' : id)}
                onDblClick={() => props.onOpen(arc.other)}
              >
                <i class="arc-bar" style={{ width: `${100 * share}%` }} />
                <KindDot kind={profile.kind(arc.other)} />
                <Name name={profile.text(arc.other)} {...(side === 'c' ? { at: line } : { from: line })} />
                <span class="arc-numbers">
                  {arc.recursive && <em title="recursive activations">recursive </em>}
                  <span data-value={arc.total}>{measure.format(arc.total)}</span>
                  {' · '}
                  {formatPercent(arc.total, whole)}
                  {arc.calls > 0 && measure.id !== 'calls' && (
                    <span data-calls={arc.calls}>
                      {' · '}
                      {counted(arc.calls, 'call')}
                    </span>
                  )}
                  {side === 'c' && <Extremes profile={profile} arc={arc} />}
                </span>
              </button>
              {arc.other < profile.routineCount && (
                <button
                  type="button"
                  class="go"
                  aria-label={`Go to ${profile.text(arc.other)}`}
                  title="Go there"
                  onClick={() => props.onOpen(arc.other)}
                >
                  ›
                </button>
              )}
            </li>
          );
        })}
      </ul>
      {arcs.length > kMostRows && (
        <p class="faint">and {formatCount(arcs.length - kMostRows)} more, all smaller</p>
      )}
    </div>
  );
}
