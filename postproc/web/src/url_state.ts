// The state in the URL, synchronous with the browser's history.
import { useCallback, useEffect, useState } from 'preact/hooks';
import { formatHash, type Patch, parseHash, patched, type State } from './state.ts';

export function useUrlState(): [State, (patch: Patch, replace?: boolean) => void] {
  const [state, setState] = useState<State>(() => parseHash(location.hash));
  useEffect(() => {
    const follow = () => setState(parseHash(location.hash));
    addEventListener('popstate', follow);
    addEventListener('hashchange', follow);
    return () => {
      removeEventListener('popstate', follow);
      removeEventListener('hashchange', follow);
    };
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
