// The answer first: where it went, the program's heaviest methods, what was found.
import { useMemo } from 'preact/hooks';
import type { Finding } from '../data.ts';
import { formatPercent } from '../format.ts';
import {
  allocatingRows, calledRows, consumerRows, heaviestRows, headlineFormat, type MethodRow,
} from '../headline.ts';
import { toFunction } from '../links.ts';
import { Name } from '../ui/name.tsx';
import type { ViewProps } from '../view.ts';

function Where({ profile }: ViewProps) {
  const { measure, whole } = profile.data.headline;
  const rows = useMemo(() => consumerRows(profile), [profile]);
  const format = headlineFormat(profile);
  if (rows.length === 0) return null;
  const label = profile.measures.find(({ id }) => id === measure)?.label ?? measure;
  return (
    <section class="panel" aria-label="Where it went" data-first>
      <h3>
        Where the {measure === 'ticks' ? 'samples’ time' : label} went <span class="faint">{format(whole)}</span>
      </h3>
      <ul class="bars consumers">
        {rows.map(({ label: who, amount, about }) => (
          <li key={who} data-consumer={who} data-value={amount}>
            <i style={{ width: `${Math.min(100, (100 * amount) / whole)}%` }} />
            <b>{who}</b>
            <span class="faint" title={about}>
              <bdi>{about}</bdi>
            </span>
            <span>
              {format(amount)} · {formatPercent(amount, whole)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface MethodsProps extends ViewProps {
  title: string;
  note?: string;
  rows: readonly MethodRow[];
}

function Methods({ profile, navigate, title, note, rows }: MethodsProps) {
  if (rows.length === 0) return null;
  const most = rows[0].value;
  return (
    <section class="panel" aria-label={title}>
      <h3>
        {title} <span class="faint">{note}</span>
      </h3>
      <ul class="bars methods">
        {rows.map(({ routine, value, text, about }) => (
          <li key={routine}>
            <button type="button" data-value={value} onClick={() => navigate(toFunction(routine))}>
              <i style={{ width: `${(100 * value) / most}%` }} />
              <span class="method">
                <Name name={profile.text(routine)} />
                <span class="faint" title={about}>
                  <bdi>{about}</bdi>
                </span>
              </span>
              <span>{text}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

// What was found, with the next thing to run.
function Findings({ findings = [] }: { findings: readonly Finding[] | undefined }) {
  if (findings.length === 0) return null;
  return (
    <section class="panel found-panel" aria-label="Findings">
      <h3>Findings</h3>
      <ol class="findings">
        {findings.map(({ rule, share, of, finding, evidence, suggestion, next }, i) => (
          <li key={i} data-rule={rule}>
            <span class="of">
              <b>{share}</b> {share !== '' && 'of '}
              {of}
            </span>
            <div>
              <bdi>{finding}</bdi>
              <div class="faint">
                <bdi>{evidence}</bdi>
                {suggestion !== '' && ` · ${suggestion}`}
              </div>
              {next !== '' && <code data-next={next}>{next}</code>}
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

export function HeadlinePanels(props: ViewProps) {
  const { profile } = props;
  const [heaviest, called, allocating] = useMemo(
    () => [heaviestRows(profile), calledRows(profile), allocatingRows(profile)],
    [profile],
  );
  const { findings } = profile.data;
  return (
    <div class="headline columns">
      <div>
        <Where {...props} />
        <Methods {...props} title="Called most" note="exact" rows={called} />
        <Methods {...props} title="Allocate most" note="bytes" rows={allocating} />
      </div>
      <div>
        <Findings findings={findings} />
        <Methods
          {...props}
          title="The program's heaviest methods"
          note="with the code of others that they run"
          rows={heaviest}
        />
      </div>
    </div>
  );
}
