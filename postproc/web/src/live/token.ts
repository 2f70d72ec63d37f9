// The token that jtrace web put into the address, after the #, where no request carries it. It is
// taken out of the address, so that copies of it and the browser's history are without it, and kept
// for reloads of this tab.
import { formatHash, parseHash, patched } from '../state.ts';

const kKey = 'jtrace.token';

export function takeToken(): string | undefined {
  const state = parseHash(location.hash);
  if (state.token === undefined) return sessionStorage.getItem(kKey) ?? undefined;
  sessionStorage.setItem(kKey, state.token);
  history.replaceState(null, '', formatHash(patched(state, { token: undefined })));
  return state.token;
}
