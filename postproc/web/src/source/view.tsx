// Source files with exact counts of their lines: a list of files, and the lines of one.
import { useMemo } from 'preact/hooks';
import { formatCount, formatPercent } from '../format.ts';
import { useKeys } from '../keys.ts';
import type { SourceFile } from '../data.ts';
import { listedLines } from '../sources.ts';
import { Toggle } from '../ui/toggle.tsx';
import type { View, ViewProps } from '../view.ts';
import { SourceFiles } from './files.tsx';
import { kLineValues, Listing, type LineValue, markOf } from './listing.tsx';
import { Margin } from './margin.tsx';

function SourceToolbar({ file, value, navigate }: ViewProps & { file: SourceFile; value: LineValue }) {
  const choices = kLineValues
    .filter((id) => id !== 'self' || file.ticks !== 0)
    .map((id) => ({ id, label: id === 'self' ? 'self samples' : id }));
  return (
    <div class="toolbar">
      <button type="button" onClick={() => navigate({ 'source.file': undefined, 'source.line': undefined })}>
        ‹ Files
      </button>
      <b>
        <bdi dir="ltr" title={file.where ?? file.path}>
          {file.path === '' ? '[unknown file]' : file.path}
        </bdi>
      </b>
      <span class="faint" data-lines={file.lines_run}>
        {formatCount(file.lines_run)} of {formatCount(file.lines)} lines ran (
        {formatPercent(file.lines_run, file.lines)})
      </span>
      <Toggle label="Beside the counts" choices={choices} value={value} onChange={(id) => navigate({ 'source.value': id }, true)} />
      <span class="unit">count: how often the line was reached</span>
    </div>
  );
}

function OneFile(props: ViewProps & { file: SourceFile }) {
  const { file, state, navigate } = props;
  const lines = useMemo(() => listedLines(file), [file]);
  const usual: LineValue = file.ticks !== 0 ? 'self' : 'bytecodes';
  const value = kLineValues.find((id) => id === state['source.value']) ?? usual;
  const first = file.methods?.[0]?.first ?? lines[0]?.number ?? 0;
  const selected = /^\d+$/.test(state['source.line'] ?? '') ? Number(state['source.line']) : first;
  const select = (line: number) => navigate({ 'source.line': `${line}` }, true);
  // To the next run of lines that never ran.
  const toNever = (step: 1 | -1) => {
    const at = lines.findIndex((line) => line.number === selected);
    const isNever = (index: number) => lines[index] !== undefined && markOf(file, lines[index]) === '#';
    for (let i = at + step; i >= 0 && i < lines.length; i += step) {
      if (isNever(i) && !isNever(i - 1)) return select(lines[i].number);
    }
  };
  useKeys({
    u: () => toNever(1),
    'shift+u': () => toNever(-1),
    Backspace: () => navigate({ 'source.file': undefined, 'source.line': undefined }),
  });
  return (
    <section class="fill" aria-label="Source">
      <SourceToolbar {...props} value={value} />
      <div class="source">
        <Listing {...props} {...{ lines, value, selected }} onSelect={select} />
        <Margin {...props} line={lines.find((line) => line.number === selected)} />
      </div>
      <p class="hint">
        | it ran · + it has several blocks, and some ran · # it never ran.{' '}
        {file.text === undefined && 'The page has no text of this file: --source=FOLDER|JAR|ZIP names sources. '}
        U goes to the next lines that never ran, Backspace to the files.
      </p>
    </section>
  );
}

function Source(props: ViewProps) {
  const { profile, state } = props;
  if (profile.sources.isEmpty) {
    return <p class="empty">There are no counts of lines: record with blocks=on.</p>;
  }
  const asked = state['source.file'] ?? '';
  const file = /^\d+$/.test(asked) ? profile.sources.data.files[Number(asked)] : undefined;
  if (file?.number === undefined) return <SourceFiles {...props} />;
  return <OneFile {...props} file={file} key={asked} />;
}

export const sourceView: View = {
  id: 'source',
  title: 'Source',
  about: 'Lines of source files with exact counts',
  component: Source,
};
