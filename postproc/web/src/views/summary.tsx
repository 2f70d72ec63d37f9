// What was traced, how far it can be trusted, what was lost, what is hot.
import { useMemo } from 'preact/hooks';
import type { PageData, TraceFacts } from '../data.ts';
import { FlameGlance } from '../flame/glance.tsx';
import { counted, formatCount, formatPercent, formatTicks, formatTime } from '../format.ts';
import { toFunction } from '../links.ts';
import type { Profile } from '../model.ts';
import { routinesBy } from '../routines.ts';
import { badgesOf, markedSamples, mergeParts } from '../trust.ts';
import { Badges } from '../ui/badges.tsx';
import { FactList } from '../ui/fact_list.tsx';
import { KindDot } from '../ui/kind_dot.tsx';
import { Name } from '../ui/name.tsx';
import type { View, ViewProps } from '../view.ts';
import { HeadlinePanels } from './headline.tsx';

const kHottest = 12;

function Cards({ data, threads }: { data: PageData; threads: Profile }) {
  const { totals, merge } = data;
  const cards: [string, string, string][] = [
    ['calls', formatCount(totals.calls), totals.calls_jitted > 0 ? `${formatPercent(totals.calls_jitted, totals.calls)} ran compiled` : 'exact'],
    ['samples', formatCount(merge.samples), data.tick_ns > 0 ? `${formatTicks(merge.ticks, data.tick_ns)}, a tick is ${formatTicks(1, data.tick_ns)}` : ''],
    ['duration', formatTime(data.duration, data.ns_per_unit), counted(threads.data.threads.length, 'thread')],
    ['routines', formatCount(totals.routines || data.routines.length), `${counted(totals.nodes, 'node')} in the tree`],
  ];
  if (totals.boundary > 0) {
    cards.push(['calls out of scope', formatCount(totals.boundary), 'natives and excluded packages']);
  }
  if (totals.exceptions > 0) cards.push(['exceptions', formatCount(totals.exceptions), 'thrown or caught']);
  return (
    <div class="cards">
      {cards.map(([label, value, note]) => (
        <div class="card" key={label}>
          <span>{label}</span>
          <b data-card={label}>{value}</b>
          <span class="faint">{note}</span>
        </div>
      ))}
    </div>
  );
}

function Hottest({ profile, measure, navigate }: ViewProps) {
  const rows = useMemo(
    () =>
      routinesBy(profile, measure)
        .sort((a, b) => b.self - a.self || a.name - b.name)
        .filter((row) => row.self > 0)
        .slice(0, kHottest),
    [profile, measure],
  );
  const most = rows[0]?.self ?? 0;
  return (
    <section class="panel" aria-label="Hottest routines">
      <h3>
        Hottest by self {measure.label} <span class="faint">{measure.unit}</span>
      </h3>
      {rows.length === 0 && <p class="faint">The trace contains no numbers.</p>}
      <ul class="bars">
        {rows.map((row) => (
          <li key={row.name}>
            <button type="button" onClick={() => navigate(toFunction(row.name))}>
              <i style={{ width: `${(100 * row.self) / most}%` }} />
              <KindDot kind={profile.kind(row.name)} />
              <Name name={profile.text(row.name)} />
              <span>
                {measure.format(row.self)} · {formatPercent(row.self, measure.whole)}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Merge({ data }: { data: PageData }) {
  const parts = mergeParts(data);
  const whole = parts.reduce((sum, part) => sum + part.count, 0);
  if (whole === 0) return null;
  const marked = markedSamples(data);
  return (
    <section class="panel" aria-label="How samples matched">
      <h3>
        How samples matched the counted tree{' '}
        <span class="faint">{formatCount(data.merge.samples + data.merge.unwinds)}</span>
      </h3>
      <div class="stack" aria-hidden="true">
        {parts.map((part) => (
          <i
            key={part.label}
            class={part.tone}
            style={{ width: `${(100 * part.count) / whole}%` }}
            title={part.label}
          />
        ))}
      </div>
      <ul class="stack-key">
        {parts.map((part) => (
          <li key={part.label}>
            <i class={part.tone} />
            <b>{formatCount(part.count)}</b> {part.label} <span class="faint">{part.about}</span>
          </li>
        ))}
        <li>
          <i />
          <b>{formatCount(marked)}</b> marked{' '}
          <span class="faint">their stacks show where they were cut</span>
        </li>
      </ul>
    </section>
  );
}

function Losses({ data }: { data: PageData }) {
  return (
    <section class="panel" aria-label="Losses">
      <h3>What was not recorded</h3>
      {data.losses.length === 0 ? (
        <p class="faint">Nothing was lost.</p>
      ) : (
        <table class="plain losses">
          <thead>
            <tr>
              <th>severity</th>
              <th class="number">count</th>
              <th>what</th>
              <th>advice</th>
            </tr>
          </thead>
          <tbody>
            {data.losses.map((loss) => (
              <tr key={loss.name}>
                <td>
                  <span class={`severity ${loss.severity}`}>{loss.severity}</span>
                </td>
                <td class="number">{formatCount(loss.count)}</td>
                <td>{loss.what}</td>
                <td>{loss.advice}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Facts({ trace }: { trace: TraceFacts }) {
  const state = trace.running ? 'still recording' : trace.cut_off ? 'ends before its end' : '';
  return (
    <details class="panel">
      <summary>
        <bdi>{trace.file}</bdi> {state !== '' && <span class="severity warning">{state}</span>}
      </summary>
      <FactList facts={trace.facts} />
    </details>
  );
}

function subtitle(trace: TraceFacts | undefined): string {
  if (trace === undefined) return '';
  const facts = new Map(trace.facts);
  const words = [];
  if (facts.has('jvm')) words.push(facts.get('jvm'));
  if (facts.has('mode')) words.push(`mode ${facts.get('mode')}`);
  for (const key of ['record', 'clock', 'timer']) {
    if (facts.has(key)) words.push(`${key} ${facts.get(key)}`);
  }
  return words.join(' · ');
}

function Summary(props: ViewProps) {
  const { data } = props.profile;
  const { pruned } = data;
  return (
    <section class="summary" aria-label="Summary">
      <h2>
        <bdi>{data.title}</bdi>
      </h2>
      <p class="faint">{subtitle(data.traces[0])}</p>
      <Badges badges={badgesOf(data)} />
      <HeadlinePanels {...props} />
      {pruned.nodes > 0 && (
        <p class="notice" role="note">
          The page leaves out {formatCount(pruned.nodes)} of {formatCount(data.totals.nodes)} nodes
          of the tree, the coldest: none has more than {formatCount(pruned.most)} {pruned.heat}.
          Below each node they stand as one [pruned] node, so that all totals hold; the list of
          routines is exact.
        </p>
      )}
      <Cards data={data} threads={props.threads.recorded} />
      <FlameGlance {...props} />
      <div class="columns">
        <Hottest {...props} />
        <div>
          <Merge data={data} />
          <Losses data={data} />
        </div>
      </div>
      {data.traces.map((trace) => (
        <Facts key={trace.file} trace={trace} />
      ))}
      <p class="faint">Made by jtrace-post {data.version}. Press ? for the keys.</p>
    </section>
  );
}

export const summaryView: View = {
  id: 'summary',
  title: 'Summary',
  about: 'What was traced, how far it can be trusted, what was lost',
  component: Summary,
};
