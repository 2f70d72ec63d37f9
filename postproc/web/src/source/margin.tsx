// Beside a listing: the method that the chosen line is in, its callers and hottest callees, and the
// line's blocks.
import { useMemo } from 'preact/hooks';
import { arcsOf } from '../arcs.ts';
import type { SourceFile, SourceMethod } from '../data.ts';
import { counted, formatCount } from '../format.ts';
import { toFlame, toFunction, toSource } from '../links.ts';
import { sumUp } from '../routines.ts';
import { type ListedLine, markWords, methodsAt } from '../sources.ts';
import { ArcList } from '../ui/arc_list.tsx';
import { Name } from '../ui/name.tsx';
import type { ViewProps } from '../view.ts';
import { markOf } from './listing.tsx';

const kMostCallees = 8;

function wordsOf(method: SourceMethod): string {
  if (method.never_loaded) return 'its class was never loaded';
  if (method.calls === 0 && method.bytecodes === 0) {
    return method.inlined ? 'never called; inlined in other methods' : 'never called';
  }
  return `${counted(method.calls, 'call')} · ${counted(method.bytecodes, 'bytecode')}`;
}

function LineFacts({ file, line }: { file: SourceFile; line: ListedLine }) {
  if (line.at < 0) return <p class="faint">Line {line.number}: no code</p>;
  const blocks = file.blocks![line.at];
  return (
    <p>
      Line {line.number}: <b>{formatCount(file.count![line.at])}</b> · {markWords(markOf(file, line))}
      {blocks.length > 1 && (
        <>
          <br />
          <span class="faint" data-blocks={blocks.join(' ')}>
            blocks: {blocks.map(formatCount).join(', ')}
          </span>
        </>
      )}
    </p>
  );
}

// Callers and callees of a method that events or samples saw.
function Neighbours({ profile, measure, navigate, name }: ViewProps & { name: number }) {
  const arcs = useMemo(() => arcsOf(profile, measure, name), [profile, measure, name]);
  const { self, total } = sumUp(profile, measure, name);
  const whole = arcs.callers.reduce((sum, each) => sum + (each.recursive ? 0 : each.total), 0);
  const open = (other: number) => {
    const place = profile.sources.placeOf(other);
    if (place !== undefined) navigate(toSource(place));
    else if (other < profile.routineCount) navigate(toFunction(other));
  };
  const common = { profile, measure, chosen: '', onOpen: open };
  const [place] = profile.instances(name);
  return (
    <>
      <p>
        {measure.label}: self {measure.format(self)}, total {measure.format(total)}
      </p>
      <span class="selection-links">
        <button type="button" onClick={() => navigate(toFunction(name))}>
          Callers and callees
        </button>
        {place !== undefined && (
          <button type="button" onClick={() => navigate(toFlame(profile, place))}>
            In the flame graph
          </button>
        )}
      </span>
      <ArcList {...common} title="Callers" side="c" arcs={arcs.callers} whole={whole}
        onChoose={(id) => open(Number.parseInt(id.slice(1), 10))} />
      <ArcList {...common} title="Hottest callees" side="e" arcs={arcs.callees.slice(0, kMostCallees)} whole={whole}
        onChoose={(id) => open(Number.parseInt(id.slice(1), 10))} />
    </>
  );
}

export function Margin(props: ViewProps & { file: SourceFile; line: ListedLine | undefined }) {
  const { file, line } = props;
  if (line === undefined) return null;
  const [method] = methodsAt(file, line.number);
  return (
    <aside class="margin" aria-label="The line and its method" aria-live="polite">
      <LineFacts file={file} line={line} />
      {method !== undefined && (
        <>
          <h3>
            <Name name={method.name} />
          </h3>
          <p class="faint">{wordsOf(method)}</p>
          {method.routine >= 0 && <Neighbours {...props} name={method.routine} />}
        </>
      )}
    </aside>
  );
}
