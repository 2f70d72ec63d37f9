// The frame around the views: tabs, search, metric switch, theme.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Keys, useKeys } from './keys.ts';
import { forgetNumbers } from './links.ts';
import type { Profile } from './model.ts';
import type { Theme } from './palette.ts';
import { matchedBy, searchFor } from './search.ts';
import type { Patch, State } from './state.ts';
import { Unfolded } from './thread_groups.ts';
import { ThemeContext, useChosenTheme } from './theme.ts';
import { parseRange } from './time_range.ts';
import { MetricSwitch, PageButtons, Tabs } from './ui/frame.tsx';
import { Help } from './ui/help.tsx';
import { RangeBanner } from './ui/range_banner.tsx';
import { SearchBox } from './ui/search_box.tsx';
import { useUrlState } from './url_state.ts';
import type { View } from './view.ts';
import { views } from './views.ts';

interface SwitchProps {
  id: string;
  label: string;
  hint: string;
  on: boolean;
  onChange(): void;
}

function Switch({ id, label, hint, on, onChange }: SwitchProps) {
  return (
    <label class={`switch ${id}`} title={hint}>
      <input type="checkbox" checked={on} onChange={onChange} />
      <span>{label}</span>
    </label>
  );
}

// Shown unless the state says no.
function switchedSites(state: State): Patch {
  return { ...forgetNumbers(state), sites: state.sites === 'off' ? undefined : 'off' };
}

function switchedThreads(state: State, unfolded: Unfolded): Patch {
  return { ...forgetNumbers(state), threads: unfolded.all().format() };
}

function keysFor(
  state: State,
  theme: Theme,
  current: View,
  navigate: (patch: Patch, replace?: boolean) => void,
): Keys {
  const keys: Keys = {
    d: () => navigate({ theme: theme === 'dark' ? 'light' : 'dark' }, true),
    t: () => navigate({ view: current.id === 'tree' ? 'flame' : 'tree' }),
  };
  views.forEach((view, i) => {
    keys[`${i + 1}`] = () => navigate({ view: view.id });
  });
  if (state.q !== undefined) keys.Escape = () => navigate({ q: undefined }, true);
  else if (state.range !== undefined) keys.Escape = () => navigate({ range: undefined });
  return keys;
}

export function App({ profile: whole }: { profile: Profile }) {
  const [state, navigate] = useUrlState();
  const range = useMemo(() => parseRange(whole.data, state.range), [whole, state.range]);
  const inRange = whole.inRange(range);
  const recorded = state.sites === 'off' ? inRange.withoutPlaces() : inRange;
  const unfolded = useMemo(() => Unfolded.parse(recorded.groups, state.threads), [recorded, state.threads]);
  const profile = recorded.withGroups(unfolded);
  const switchThreads = () => navigate(switchedThreads(state, unfolded));
  const threads = useMemo(() => ({ recorded, unfolded }), [recorded, unfolded]);
  const [helping, setHelping] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const theme = useChosenTheme(state.theme);
  const measure = profile.measure(state.m);
  const text = state.q ?? '';
  const search = useMemo(() => searchFor(profile, text), [profile, text]);
  const matched = useMemo(() => matchedBy(profile, measure, search), [profile, measure, search]);
  const view = views.find((each) => each.id === state.view) ?? views[0];
  useEffect(() => {
    document.title = `${view.title} · ${profile.data.title} – jtrace`;
  }, [view, profile]);
  useKeys({
    ...keysFor(state, theme, view, navigate),
    ...(whole.hasPlaces && { l: () => navigate(switchedSites(state)) }),
    ...(unfolded.isPossible && { g: switchThreads }),
    '?': () => setHelping(true),
    'ctrl+f': () => {
      input.current!.focus();
      input.current!.select();
    },
  });
  const View = view.component;
  const props = { profile, threads, measure, state, search, theme, navigate };
  return (
    <ThemeContext.Provider value={theme}>
      <header>
        <h1 title={profile.data.title}>jtrace</h1>
        <Tabs views={views} state={state} current={view} />
        <SearchBox
          search={search}
          measure={measure}
          matched={matched}
          input={input}
          onChange={(q) => navigate({ q }, true)}
        />
        <MetricSwitch measures={profile.measures} measure={measure} onChange={(m) => navigate({ m })} />
        {whole.hasPlaces && (
          <Switch
            id="sites"
            label="Call sites"
            hint="Distinguish calls by the line that makes them (L)"
            on={profile.hasPlaces}
            onChange={() => navigate(switchedSites(state))}
          />
        )}
        {unfolded.isPossible && (
          <Switch
            id="groups"
            label="Group threads"
            hint="Threads whose names differ in numbers only as one (G)"
            on={!unfolded.isAll}
            onChange={switchThreads}
          />
        )}
        <PageButtons
          theme={theme}
          onTheme={(next) => navigate({ theme: next }, true)}
          onHelp={() => setHelping(true)}
        />
      </header>
      <main>
        <RangeBanner {...props} />
        <View key={view.id} {...props} />
      </main>
      {helping && <Help onClose={() => setHelping(false)} />}
    </ThemeContext.Provider>
  );
}
