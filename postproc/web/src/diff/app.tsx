// The frame around the views of two traces: what is compared, tabs, search, measure, theme.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useKeys } from '../keys.ts';
import { matchedBy, searchFor } from '../search.ts';
import { ThemeContext, useChosenTheme } from '../theme.ts';
import { MetricSwitch, PageButtons, Tabs } from '../ui/frame.tsx';
import { Help, type KeyWords } from '../ui/help.tsx';
import { SearchBox } from '../ui/search_box.tsx';
import { useUrlState } from '../url_state.ts';
import type { DiffData, DiffSide } from './data.ts';
import { flameView } from './flame.tsx';
import { functionView } from './function.tsx';
import { Comparison } from './model.ts';
import { flatView } from './routines.tsx';
import { summaryView } from './summary.tsx';
import type { DiffView } from './view.ts';

const kViews: readonly DiffView[] = [summaryView, flameView, flatView, functionView];

const kKeys: KeyWords = [
  ['Ctrl+F', 'search, by a regular expression'],
  ['N, Shift+N', 'flame graph: next match, the one before'],
  ['Esc', 'clear the search; close'],
  ['W', 'flame graph: width by the trace after, before, by the greater of both'],
  ['0', 'flame graph: reset the zoom'],
  ['I', 'flame graph: invert, icicle or flame'],
  ['S, Shift+S', 'flame graph: save the picture as SVG, as PNG'],
  ['D', 'dark or light'],
  ['1 to 4', 'the views'],
  ['arrows, Enter', 'go from frame to frame or row to row, open'],
];

function Side({ title, side }: { title: string; side: DiffSide }) {
  const [trace] = side.traces;
  const state = trace?.running ? 'still recording' : trace?.cut_off ? 'ends before its end' : '';
  const file = trace?.file ?? '';
  return (
    <span class="side">
      <b>{title}</b> <bdi title={file}>{file.replace(/.*\//, '')}</bdi>{' '}
      {side.title !== file.replace(/.*\//, '') && (
        <bdi class="faint" title={side.title}>
          {side.title}
        </bdi>
      )}
      {state !== '' && <span class="severity warning">{state}</span>}
    </span>
  );
}

// Above every view, with what may be the cause of changes besides the program.
function Compared({ data }: { data: DiffData }) {
  return (
    <div class="compared" role="note" aria-label="What is compared">
      <h2>Compared</h2>
      <Side title="Before" side={data.sides[0]} />
      <span aria-hidden="true">→</span>
      <Side title="After" side={data.sides[1]} />
      {data.warnings.map((line) => (
        <p key={line} class="severity warning">
          {line}
        </p>
      ))}
    </div>
  );
}

export function DiffApp({ data }: { data: DiffData }) {
  const [state, navigate] = useUrlState();
  const comparison = useMemo(() => new Comparison(data), [data]);
  const [helping, setHelping] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const theme = useChosenTheme(state.theme);
  const measure = comparison.measure(state.m);
  const text = state.q ?? '';
  const search = useMemo(() => searchFor(comparison.after, text), [comparison, text]);
  const matched = useMemo(() => matchedBy(comparison.after, measure.after, search), [comparison, measure, search]);
  const view = kViews.find((each) => each.id === state.view) ?? kViews[0];
  useEffect(() => {
    document.title = `${view.title} · ${data.title}, before and after – jtrace`;
  }, [view, data]);
  useKeys({
    d: () => navigate({ theme: theme === 'dark' ? 'light' : 'dark' }, true),
    ...Object.fromEntries(kViews.map(({ id }, i) => [`${i + 1}`, () => navigate({ view: id })])),
    ...(state.q !== undefined && { Escape: () => navigate({ q: undefined }, true) }),
    '?': () => setHelping(true),
    'ctrl+f': () => {
      input.current!.focus();
      input.current!.select();
    },
  });
  const View = view.component;
  return (
    <ThemeContext.Provider value={theme}>
      <header>
        <h1 title={data.title}>jtrace</h1>
        <Tabs views={kViews} state={state} current={view} />
        <SearchBox
          search={search}
          measure={measure.after}
          matched={matched}
          input={input}
          onChange={(q) => navigate({ q }, true)}
        />
        <MetricSwitch measures={comparison.measures} measure={measure} onChange={(m) => navigate({ m })} />
        <PageButtons
          theme={theme}
          onTheme={(next) => navigate({ theme: next }, true)}
          onHelp={() => setHelping(true)}
        />
      </header>
      <main>
        <Compared data={data} />
        <View key={view.id} {...{ comparison, measure, state, search, theme, navigate }} />
      </main>
      {helping && <Help keys={kKeys} onClose={() => setHelping(false)} />}
    </ThemeContext.Provider>
  );
}
