// One routine, before and after, with its callers and callees.
import { useMemo } from 'preact/hooks';
import { formatCount } from '../format.ts';
import { toFunction } from '../links.ts';
import { kindLabel } from '../palette.ts';
import { KindDot } from '../ui/kind_dot.tsx';
import { Name } from '../ui/name.tsx';
import { changeText, kStateWords } from './change.ts';
import { Delta } from './parts.tsx';
import { type ArcChange, arcChanges, deltaIn, type Pair, routineChanges } from './rows.ts';
import type { DiffView, DiffViewProps } from './view.ts';

const kMostRows = 200;

interface SideProps extends DiffViewProps {
  title: string;
  side: string;
  arcs: readonly ArcChange[];
}

function ArcRow({ comparison, measure, navigate, side, arc }: DiffViewProps & { side: string; arc: ArcChange }) {
  const { after } = comparison;
  const { other, recursive, total, calls } = arc;
  const isRoutine = other < after.routineCount;
  return (
    <tr data-arc={`${side}${other}${recursive ? 'r' : ''}`} data-name={after.text(other)} data-before={total.before} data-after={total.after}
      data-calls-before={calls.before} data-calls-after={calls.after}>
      <td>
        <div class="arc-name">
          <KindDot kind={after.kind(other)} />
          {isRoutine ? (
            <button type="button" class="inline" onClick={() => navigate(toFunction(other))}>
              <Name name={after.text(other)} />
            </button>
          ) : (
            <Name name={after.text(other)} />
          )}
          {recursive && <em class="faint"> recursive</em>}
        </div>
      </td>
      <td class="number">{total.before === 0 ? '' : measure.format(total.before)}</td>
      <td class="number">{total.after === 0 ? '' : measure.format(total.after)}</td>
      <td class="number">
        <Delta comparison={comparison} measure={measure} pair={total} />
      </td>
      {measure.id !== 'calls' && (
        <td class="number">
          {calls.before === 0 && calls.after === 0 ? '' : `${formatCount(calls.before)} → ${formatCount(calls.after)}`}
        </td>
      )}
    </tr>
  );
}

function Side(props: SideProps) {
  const { title, arcs, measure } = props;
  return (
    <section class="arcs" aria-label={title}>
      <h3>
        {title} <span class="faint">{formatCount(arcs.length)}</span>
      </h3>
      {arcs.length === 0 ? (
        <p class="faint">none</p>
      ) : (
        <div class="wide-table" tabIndex={0} role="group" aria-label={`${title}, before and after`}>
          <table class="plain">
            <thead>
              <tr>
                <th>routine</th>
                <th class="number">before</th>
                <th class="number">after</th>
                <th class="number">change</th>
                {measure.id !== 'calls' && <th class="number">calls</th>}
              </tr>
            </thead>
            <tbody>
              {arcs.slice(0, kMostRows).map((arc) => (
                <ArcRow key={`${arc.other} ${arc.recursive}`} {...props} arc={arc} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {arcs.length > kMostRows && <p class="faint">and {formatCount(arcs.length - kMostRows)} more, that changed less</p>}
    </section>
  );
}

function Detail(props: DiffViewProps & { name: number }) {
  const { comparison, measure, name } = props;
  const { after } = comparison;
  const row = useMemo(() => routineChanges(comparison, measure)[name], [comparison, measure, name]);
  const { callers, callees } = useMemo(() => arcChanges(comparison, measure, name), [comparison, measure, name]);
  const cards: [string, Pair, (value: number) => string][] = [
    [`self ${measure.label}`, row.self, measure.format],
    [`total ${measure.label}`, row.total, measure.format],
  ];
  if (measure.id !== 'calls') cards.push(['calls', row.calls, formatCount]);
  return (
    <section class="function" aria-label="Function">
      <h2>
        <KindDot kind={after.kind(name)} /> <Name name={after.text(name)} />
      </h2>
      <p class="faint">
        {kindLabel(after.kind(name))} · {kStateWords[row.state]} · {measure.label}: {measure.unit}
      </p>
      <div class="cards">
        {cards.map(([label, pair, format]) => (
          <div class="card" key={label}>
            <span>{label}</span>
            <b data-card={label} data-before={pair.before} data-after={pair.after}>
              {format(pair.before)} → {format(pair.after)}
            </b>
            <span class="faint">{deltaIn(pair) === 0 ? 'the same' : changeText({ format }, pair.before, pair.after).split(', ').slice(1).join(', ')}</span>
          </div>
        ))}
      </div>
      <div class="sides">
        <Side {...props} title="Callers" side="c" arcs={callers} />
        <Side {...props} title="Callees" side="e" arcs={callees} />
      </div>
      <p class="hint">Threads are left out: a routine that a thread runs first is called by "all threads".</p>
    </section>
  );
}

function FunctionView(props: DiffViewProps) {
  const { comparison, state } = props;
  const { routineCount } = comparison.after;
  if (routineCount === 0) return <p class="empty">The traces name no routine.</p>;
  // The first one is the greatest change.
  const asked = /^\d+$/.test(state.fn ?? '') ? Number(state.fn) : 0;
  return <Detail {...props} name={asked < routineCount ? asked : 0} />;
}

export const functionView: DiffView = {
  id: 'function',
  title: 'Function',
  about: 'One routine with its callers and callees, before and after',
  component: FunctionView,
};
