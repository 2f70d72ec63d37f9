// The page's state: words in the URL's hash, so that a link contains all of it. Keys of the whole
// page: view, m (measure), q (search), theme; a view's own keys begin with its id and a dot.

export type State = Readonly<Record<string, string>>;
// undefined removes a key.
export type Patch = Readonly<Record<string, string | undefined>>;

export function parseHash(hash: string): State {
  const state: Record<string, string> = {};
  for (const [key, value] of new URLSearchParams(hash.replace(/^#/, ''))) state[key] = value;
  return state;
}

export function formatHash(state: State): string {
  return `#${new URLSearchParams(state as Record<string, string>)}`;
}

export function patched(state: State, patch: Patch): State {
  const next: Record<string, string> = { ...state };
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined || value === '') delete next[key];
    else next[key] = value;
  }
  return next;
}
