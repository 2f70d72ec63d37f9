// The graph's switches.
import { counted, formatPercent } from '../format.ts';
import type { Measure } from '../measure.ts';
import type { Profile } from '../model.ts';
import type { Patch } from '../state.ts';
import { SaveButtons } from '../ui/save_buttons.tsx';
import { formatArcWidths, kArcCurves, kFirstTable } from './arc_width.ts';
import { kAllThreads } from './call_graph.ts';
import { fullName, shortName } from './label.ts';
import { kData, kNameLengths, kWidthBy, type Settings } from './options.ts';
import { kMostNodes, type Picture } from './picture.ts';
import { kFilterStep, kGreatestFilter } from './time_filter.ts';

interface ToolbarProps {
  profile: Profile;
  measure: Measure;
  settings: Settings;
  picture: Picture;
  navigate(patch: Patch, replace?: boolean): void;
  onZoom(factor: number): void;
  onFit(): void;
  saved: { onSvg(): void; onPng(): void };
}

interface SelectProps {
  label: string;
  value: string | number;
  choices: readonly (string | number)[];
  onChange(value: string): void;
}

function Select({ label, value, choices, onChange }: SelectProps) {
  return (
    <label>
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    </label>
  );
}

function Filter({ picture, navigate }: ToolbarProps) {
  const set = (value: string) => navigate({ 'graph.filter': value }, true);
  return (
    <label class="filter" title="Functions below that share of the whole are collapsed into their callers">
      <span>Filter</span>
      <input
        type="range"
        aria-label="Least share of a function that is shown"
        min="0"
        max={kGreatestFilter}
        step={kFilterStep}
        value={picture.filter}
        onInput={(event) => set(event.currentTarget.value)}
      />
      <input
        type="number"
        aria-label="Least share in percent"
        min="0"
        max={kGreatestFilter}
        step={kFilterStep}
        value={picture.filter}
        onChange={(event) => set(event.currentTarget.value)}
      />
      <span>%</span>
    </label>
  );
}

function Widths({ settings, navigate }: ToolbarProps) {
  const { widths } = settings;
  const set = (text: string) => navigate({ 'graph.widths': text === 'table' ? kFirstTable : text }, true);
  return (
    <>
      <Select label="Widths" value={widths.curve} choices={kArcCurves} onChange={set} />
      {widths.curve === 'table' && (
        <input
          class="width-table"
          aria-label="Table of widths: percent and pixels"
          title="From that percent of the whole on, arcs are that many pixels wide"
          value={formatArcWidths(widths)}
          onChange={(event) => set(event.currentTarget.value)}
        />
      )}
      <Select
        label="of"
        value={settings.widthBy}
        choices={kWidthBy}
        onChange={(value) => navigate({ 'graph.by': value }, true)}
      />
    </>
  );
}

// The part that is not in the picture.
function Hidden({ picture, measure }: ToolbarProps) {
  const { graph, filter } = picture;
  const shown = graph.nodes.length - 1;
  const functions = (count: number) => counted(count, 'function');
  const rest =
    graph.hidden === 0
      ? ''
      : shown >= kMostNodes
        ? `; ${functions(graph.hidden)} more are collapsed into their callers`
        : `; ${functions(graph.hidden)} below ${Number(filter.toFixed(1))} % ${graph.hidden === 1 ? 'is' : 'are'} collapsed into their callers`;
  const cost =
    graph.hidden === 0
      ? ''
      : ` (${formatPercent(graph.hiddenSelf, graph.whole)} of the ${measure.label}${graph.hiddenCalls > 0 ? `, ${counted(graph.hiddenCalls, 'call')}` : ''})`;
  return (
    <output class="hidden-rest" data-shown={shown} data-hidden={graph.hidden}>
      {functions(shown)}
      {rest}
      {cost}
    </output>
  );
}

export function Toolbar(props: ToolbarProps) {
  const { profile, settings, navigate, onZoom, onFit } = props;
  const set = (key: string) => (value: string) => navigate({ [key]: value }, true);
  return (
    <div class="graph-toolbar">
      <Filter {...props} />
      <Widths {...props} />
      <Select label="Left" value={settings.left} choices={kData} onChange={set('graph.left')} />
      <Select label="Right" value={settings.right} choices={kData} onChange={set('graph.right')} />
      <Select label="Letters" value={settings.nameLength} choices={kNameLengths} onChange={set('graph.length')} />
      <span class="zoom" role="group" aria-label="Zoom">
        <button type="button" aria-label="Zoom out" title="−" onClick={() => onZoom(1 / 1.3)}>
          −
        </button>
        <button type="button" aria-label="Zoom in" title="+" onClick={() => onZoom(1.3)}>
          +
        </button>
        <button type="button" title="0" onClick={onFit}>
          Fit
        </button>
      </span>
      <SaveButtons {...props.saved} />
      {settings.root !== kAllThreads && (
        <button type="button" class="root" onClick={() => navigate({ 'graph.root': undefined, 'graph.filter': undefined })}>
          100 % is {shortName(fullName(profile, settings.root), 30)} ✕
        </button>
      )}
      <Hidden {...props} />
    </div>
  );
}
