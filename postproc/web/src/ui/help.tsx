// The keys.
import { useEffect, useRef } from 'preact/hooks';

export type KeyWords = readonly (readonly [key: string, what: string])[];

const kKeys: KeyWords = [
  ['Ctrl+F', 'search, by a regular expression'],
  ['N, Shift+N', 'next match, the one before'],
  ['Esc', 'clear the search, then the part of the run; close'],
  ['0', 'flame graph: reset the zoom'],
  ['I', 'flame graph: invert, icicle or flame'],
  ['S, Shift+S', 'flame graph, call graph: save the picture as SVG, as PNG; timeline: as PNG'],
  ['R', 'flame graph: callers or calls; call graph: the function becomes 100 %'],
  ['[ ]', 'call graph: show less or more of what the function calls'],
  ['+ −, 0', 'call graph: zoom; all of it'],
  ['Shift+arrows', 'call graph: move'],
  ['A, Shift+A', 'call graph: the next arc, the one before'],
  ['U, Shift+U', 'source: the next lines that never ran, those before'],
  ['Backspace', 'source: the files'],
  ['T', 'the call tree, and back'],
  ['L', 'call sites: with or without the line that calls, if it was recorded'],
  ['G', 'threads whose names differ in numbers only: as one, or each'],
  ['F; J, V, B', 'flame graph, call tree: fold all but the program; the JDK, the JVM, native code'],
  ['Shift+arrows, Enter', 'heatmap: mark a part of the run, choose it'],
  ['D', 'dark or light'],
  ['1 to 9', 'the views'],
  ['arrows, Enter', 'go from frame to frame or row to row, open'],
  ['*', 'call tree: open the hottest way down'],
];

export function Help({ keys = kKeys, onClose }: { keys?: KeyWords; onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current!.showModal(), []);
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="keys">
      <h2 id="keys">Keys</h2>
      <dl class="keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p class="faint">
        The address holds what you see: a link to it opens the same. Nothing leaves this page.
      </p>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}
