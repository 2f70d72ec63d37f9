// The frame around the views: tabs, metric switch, search, theme.
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import type { Profile } from './model.ts';
import { searchFor } from './search.ts';
import { type Patch, type State, formatHash, parseHash, patched } from './state.ts';
import { views } from './views.ts';

function useHashState(): [State, (patch: Patch, replace?: boolean) => void] {
  const [state, setState] = useState<State>(() => parseHash(location.hash));
  useEffect(() => {
    const follow = () => setState(parseHash(location.hash));
    addEventListener('popstate', follow);
    return () => removeEventListener('popstate', follow);
  }, []);
  const navigate = useCallback((patch: Patch, replace = false) => {
    const next = patched(parseHash(location.hash), patch);
    const url = formatHash(next);
    if (replace) history.replaceState(null, '', url);
    else if (url !== location.hash) history.pushState(null, '', url);
    setState(next);
  }, []);
  return [state, navigate];
}

export function App({ profile }: { profile: Profile }) {
  const [state, navigate] = useHashState();
  const measure = profile.measure(state.m);
  const search = useMemo(() => searchFor(profile, state.q ?? ''), [profile, state.q]);
  const view = views.find((each) => each.id === state.view) ?? views[0];
  const View = view.component;
  return (
    <>
      <header>
        <nav aria-label="Views">
          {views.map((each) => (
            <a
              href={formatHash(patched(state, { view: each.id }))}
              title={each.about}
              aria-current={each === view ? 'page' : undefined}
            >
              {each.title}
            </a>
          ))}
        </nav>
        <select
          aria-label="Metric"
          value={measure.id}
          onChange={(event) => navigate({ m: event.currentTarget.value })}
        >
          {profile.measures.map((each) => (
            <option value={each.id}>{each.label}</option>
          ))}
        </select>
      </header>
      <main>
        <View {...{ profile, measure, state, search, navigate }} theme="light" />
      </main>
    </>
  );
}
