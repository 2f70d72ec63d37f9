// What was compared, what differs in sum, and the routines that changed most.
import { useMemo } from 'preact/hooks';
import { formatTime } from '../format.ts';
import { toFunction } from '../links.ts';
import { FactList } from '../ui/fact_list.tsx';
import { KindDot } from '../ui/kind_dot.tsx';
import { Name } from '../ui/name.tsx';
import { fillOfStep } from './colours.ts';
import { deltaOf, growthOf } from './change.ts';
import type { DiffSide } from './data.ts';
import { stepOfPair } from './parts.tsx';
import { deltaIn, type RoutineChange, routineChanges } from './rows.ts';
import type { DiffView, DiffViewProps } from './view.ts';

const kMostRows = 12;

function Totals({ comparison }: DiffViewProps) {
  const { totals, states, sides, ns_per_unit } = comparison.data;
  const duration = (side: DiffSide) => formatTime(side.duration, ns_per_unit);
  return (
    <section class="panel" aria-label="In all">
      <h3>In all</h3>
      <table class="plain totals-table">
        <thead>
          <tr>
            <th>of all routines</th>
            <th class="number">before</th>
            <th class="number">after</th>
            <th class="number">change</th>
          </tr>
        </thead>
        <tbody>
          {totals.map(({ what, before, after, growth }) => (
            <tr key={what} data-total={what}>
              <td>{what}</td>
              <td class="number">{before}</td>
              <td class="number">{after}</td>
              <td class="number">{growth}</td>
            </tr>
          ))}
          <tr>
            <td>duration</td>
            <td class="number">{duration(sides[0])}</td>
            <td class="number">{duration(sides[1])}</td>
            <td />
          </tr>
        </tbody>
      </table>
      <p class="hint" data-states={states}>
        Routines: {states}.
      </p>
    </section>
  );
}

interface ListProps extends DiffViewProps {
  title: string;
  rows: readonly RoutineChange[];
}

function Changes(props: ListProps) {
  const { comparison, measure, theme, title, rows, navigate } = props;
  const most = Math.max(1, ...rows.map(({ self }) => Math.abs(deltaIn(self))));
  return (
    <section class="panel" aria-label={title}>
      <h3>
        {title} <span class="faint">self {measure.label}, {measure.unit}</span>
      </h3>
      {rows.length === 0 && <p class="faint">none</p>}
      <ul class="bars">
        {rows.slice(0, kMostRows).map(({ name, self }) => (
          <li key={name}>
            <button type="button" data-delta={deltaIn(self)} onClick={() => navigate(toFunction(name))}>
              <i
                style={{
                  width: `${(100 * Math.abs(deltaIn(self))) / most}%`,
                  background: fillOfStep(stepOfPair({ comparison, measure, pair: self }), theme),
                }}
              />
              <KindDot kind={comparison.after.kind(name)} />
              <Name name={comparison.after.text(name)} />
              <span>
                {deltaOf(measure, self.before, self.after)} · {growthOf(self.before, self.after)}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Facts({ title, side }: { title: string; side: DiffSide }) {
  return (
    <details class="panel">
      <summary>
        {title}: <bdi>{side.traces[0]?.file}</bdi>
      </summary>
      <FactList facts={side.traces[0]?.facts ?? []} />
    </details>
  );
}

function Summary(props: DiffViewProps) {
  const { comparison, measure } = props;
  const { data } = comparison;
  const [grown, shrunk, chance] = useMemo(() => {
    const changed = routineChanges(comparison, measure).filter(({ self }) => deltaIn(self) !== 0);
    const certain = changed.filter(({ self }) => !comparison.isChance(measure, self.before, self.after));
    const up = certain.filter(({ self }) => deltaIn(self) > 0).sort((a, b) => deltaIn(b.self) - deltaIn(a.self));
    const down = certain.filter(({ self }) => deltaIn(self) < 0).sort((a, b) => deltaIn(a.self) - deltaIn(b.self));
    return [up, down, changed.length - certain.length];
  }, [comparison, measure]);
  return (
    <section class="summary" aria-label="Summary">
      {data.broken.length > 0 && (
        <ul class="notice broken" aria-label="Broken rules">
          {data.broken.map((line) => (
            <li key={line}>✕ {line}</li>
          ))}
        </ul>
      )}
      <div class="columns summary-diff">
        <Totals {...props} />
        <Changes {...props} title="Grew most" rows={grown} />
        <Changes {...props} title="Shrank most" rows={shrunk} />
      </div>
      {chance > 0 && <p class="hint">Differences within chance are left out here: {chance} routines.</p>}
      {data.nodes_left_out > 0 && (
        <p class="notice" role="note">
          The page leaves out {data.nodes_left_out} of {data.nodes_in_all} nodes of the tree, the coldest; totals hold, and
          the list of routines is exact.
        </p>
      )}
      <Facts title="Before" side={data.sides[0]} />
      <Facts title="After" side={data.sides[1]} />
      <p class="faint">Made by jtrace-post {data.version}. Press ? for the keys.</p>
    </section>
  );
}

export const summaryView: DiffView = {
  id: 'summary',
  title: 'Summary',
  about: 'What differs in sum, and what changed most',
  component: Summary,
};
