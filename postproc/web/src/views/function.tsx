// One routine: what it costs, who calls it, whom it calls, on which paths.
import { useMemo } from 'preact/hooks';
import { type Arc, arcsOf, extremesOf } from '../arcs.ts';
import { counted, formatCount, formatPercent, formatTime } from '../format.ts';
import { toCallersOf, toFlame, toFunction, toGraph } from '../links.ts';
import type { Measure } from '../measure.ts';
import type { Profile } from '../model.ts';
import { kindLabel } from '../palette.ts';
import { routinesBy, sumUp } from '../routines.ts';
import { ArcList, arcId } from '../ui/arc_list.tsx';
import { KindDot } from '../ui/kind_dot.tsx';
import { Name } from '../ui/name.tsx';
import { SourceButton } from '../ui/source_button.tsx';
import { Paths } from '../ui/paths.tsx';
import type { View, ViewProps } from '../view.ts';

interface Card {
  readonly label: string;
  readonly value: string;
  readonly exact: number;
  readonly note?: string;
}

function cardsOf(profile: Profile, measure: Measure, name: number): Card[] {
  const { flat, ns_per_unit: ns } = profile.data;
  const routine = routinesBy(profile, measure)[name];
  const share = (value: number) => formatPercent(value, measure.whole);
  const cards: Card[] = [
    { label: `total ${measure.label}`, value: measure.format(routine.total), exact: routine.total, note: share(routine.total) },
    { label: `self ${measure.label}`, value: measure.format(routine.self), exact: routine.self, note: share(routine.self) },
  ];
  if (routine.total2 !== routine.total) {
    cards.push({
      label: 'with recursion', value: measure.format(routine.total2), exact: routine.total2,
      note: 'all activations added up',
    });
  }
  const calls = flat.calls[name];
  if (calls > 0) {
    const compiled = flat.calls_jitted[name];
    const note = compiled > 0 ? `${formatPercent(compiled, calls)} compiled` : undefined;
    cards.push({ label: 'calls', value: formatCount(calls), exact: calls, note });
  }
  const least = flat.min[name];
  const most = flat.max[name];
  if (least !== null && most !== null && profile.measures.some(({ id }) => id === 'time')) {
    cards.push({ label: 'least self, one call', value: formatTime(least, ns), exact: least });
    cards.push({ label: 'most self, one call', value: formatTime(most, ns), exact: most });
  }
  const out = flat.outside_calls[name];
  if (out > 0) {
    const time = flat.outside_time[name];
    const note = time > 0 ? formatTime(time, ns) : undefined;
    cards.push({ label: 'calls out of scope', value: formatCount(out), exact: out, note });
  }
  return cards;
}

// The default: the hottest of the routines that events counted, if any.
function hottest(profile: Profile, measure: Measure): number {
  const { calls } = profile.data.flat;
  const hot = routinesBy(profile, measure)
    .filter(({ name }) => profile.kind(name) !== 'm')
    .sort(
      (a, b) =>
        Number(calls[b.name] > 0) - Number(calls[a.name] > 0) || b.self - a.self || a.name - b.name,
    );
  return hot[0]?.name ?? 0;
}

// All places of a routine, as if they were one arc.
function everywhere(profile: Profile, measure: Measure, name: number): Arc {
  const { self, total } = sumUp(profile, measure, name);
  const nodes = Array.from(profile.instances(name));
  const calls = profile.data.flat.calls[name];
  return { other: name, place: 0, recursive: false, calls, self, total, nodes, ...extremesOf(profile, nodes) };
}

function Detail({ profile, measure, state, navigate, name }: ViewProps & { name: number }) {
  const arcs = useMemo(() => arcsOf(profile, measure, name), [profile, measure, name]);
  const cards = useMemo(() => cardsOf(profile, measure, name), [profile, measure, name]);
  const chosen = state['function.arc'] ?? '';
  const find = (side: string, list: readonly Arc[]) =>
    list.find((arc) => arcId(side, arc) === chosen);
  const arc = find('c', arcs.callers) ?? find('e', arcs.callees);
  const open = (other: number) => {
    if (other < profile.routineCount) navigate(toFunction(other));
  };
  const whole = arcs.callers.reduce((sum, each) => sum + (each.recursive ? 0 : each.total), 0);
  const common = {
    profile, measure, chosen, onOpen: open,
    onChoose: (id: string) => navigate({ 'function.arc': id }, true),
  };
  const kind = profile.kind(name);
  return (
    <section class="function" aria-label="Function">
      <h2>
        <KindDot kind={kind} /> <Name name={profile.text(name)} />
      </h2>
      <p class="faint">
        {kindLabel(kind)} · {counted(profile.instances(name).length, 'place')} in the tree ·{' '}
        {measure.label}: {measure.unit}
      </p>
      <div class="cards">
        {cards.map((card) => (
          <div class="card" key={card.label}>
            <span>{card.label}</span>
            <b data-card={card.label} data-value={card.exact}>
              {card.value}
            </b>
            <span class="faint">{card.note}</span>
          </div>
        ))}
        <div class="card links">
          <button type="button" onClick={() => navigate(toGraph(name))}>
            In the call graph
          </button>
          <SourceButton {...{ profile, navigate, name }} />
          <button
            type="button"
            onClick={() => navigate(toCallersOf(name))}
          >
            Callers as a flame graph
          </button>
        </div>
      </div>
      <div class="sides">
        <ArcList {...common} title="Callers" side="c" arcs={arcs.callers} whole={whole} />
        <ArcList {...common} title="Callees" side="e" arcs={arcs.callees} whole={whole} />
      </div>
      <p class="hint">
        Click an arc for its calling paths; › goes to the routine. Search to find another one.
      </p>
      <Paths
        profile={profile}
        measure={measure}
        arc={arc ?? everywhere(profile, measure, name)}
        onShow={(node) => navigate(toFlame(profile, node))}
      />
    </section>
  );
}

const kMostFound = 12;

// Links to the search results.
function Found({ profile, measure, search, navigate }: ViewProps) {
  const found = useMemo(
    () =>
      search.active
        ? routinesBy(profile, measure)
            .filter(({ name }) => search.matches(name))
            .sort((a, b) => b.total - a.total || a.name - b.name)
        : [],
    [profile, measure, search],
  );
  if (!search.active) return null;
  return (
    <div class="found" role="group" aria-label="Routines that match the search">
      <span class="faint">{formatCount(found.length)} {found.length === 1 ? 'matches' : 'match'}:</span>
      {found.slice(0, kMostFound).map(({ name }) => (
        <button
          key={name}
          type="button"
          onClick={() => navigate(toFunction(name))}
        >
          <Name name={profile.text(name)} />
        </button>
      ))}
    </div>
  );
}

function FunctionView(props: ViewProps) {
  const { profile, measure, state } = props;
  const usual = useMemo(() => hottest(profile, measure), [profile, measure]);
  if (profile.routineCount === 0) return <p class="empty">The trace names no routine.</p>;
  const asked = /^\d+$/.test(state.fn ?? '') ? Number(state.fn) : usual;
  return (
    <>
      <Found {...props} />
      <Detail {...props} name={asked < profile.routineCount ? asked : usual} />
    </>
  );
}

export const functionView: View = {
  id: 'function',
  title: 'Function',
  about: 'One routine with its callers and callees',
  component: FunctionView,
};
