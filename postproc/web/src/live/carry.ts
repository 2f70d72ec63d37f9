// Words of the page's state whose meaning depends on the size of the data, for the data of the next
// refresh. No DOM here.
import type { PageData } from '../data.ts';
import { forgetNumbers } from '../links.ts';
import { type Patch, patched, type State } from '../state.ts';
import { bucketWidth } from '../time_range.ts';
import { recordingOf } from './recording.ts';

// A part of the run: buckets become wider as time goes on.
function carriedRange(range: string, old: PageData, next: PageData): string | undefined {
  const words = /^(\d+)-(\d+)$/.exec(range);
  if (words === null || old.times === undefined || next.times === undefined) return undefined;
  const ratio = bucketWidth(old) / bucketWidth(next);
  const shift = (old.heat!.start - next.heat!.start) / bucketWidth(next);
  return `${Math.floor(Number(words[1]) * ratio + shift)}-${Math.ceil(Number(words[2]) * ratio + shift)}`;
}

// Numbers of threads begin where those of routines end.
function continued(state: State, old: PageData, next: PageData): State {
  const grown = next.routines.length - old.routines.length;
  const name = (digits: string) => {
    const number = Number(digits);
    return `${number < old.routines.length ? number : number + grown}`;
  };
  const patch: Record<string, string | undefined> = {};
  const arc = state['function.arc'];
  if (arc !== undefined) patch['function.arc'] = arc.replace(/^([ce])(\d+)/, (_, side, digits) => side + name(digits));
  if (state['flame.of'] === 'callers' && state['flame.at'] !== undefined) {
    patch['flame.at'] = state['flame.at'].split('-').map((word) => word.replace(/^\d+/, name)).join('-');
  }
  if (state.range !== undefined) patch.range = carriedRange(state.range, old, next);
  return patched(state, patch as Patch);
}

// Of another recording: numbers mean something else, unless the routine that one means is there again.
function restarted(state: State, old: PageData, next: PageData): State {
  const again = (word: string | undefined) => {
    const number = next.routines.indexOf(old.routines[Number(word ?? NaN)]);
    return number < 0 ? undefined : `${number}`;
  };
  return patched(state, {
    ...forgetNumbers(state),
    fn: again(state.fn),
    'graph.root': again(state['graph.root']),
    'flame.at': undefined,
    'tree.at': undefined,
    'source.file': undefined,
    'source.line': undefined,
    range: undefined,
  });
}

export function carried(state: State, old: PageData, next: PageData): State {
  return recordingOf(old) === recordingOf(next) ? continued(state, old, next) : restarted(state, old, next);
}
