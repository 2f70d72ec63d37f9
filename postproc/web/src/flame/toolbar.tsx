// The switches above a flame graph, the colours, and the meaning of its width.
import { counted } from '../format.ts';
import type { Patch } from '../state.ts';
import { FoldSwitches } from '../ui/fold_switches.tsx';
import { Legend } from '../ui/legend.tsx';
import { SaveButtons } from '../ui/save_buttons.tsx';
import { Toggle } from '../ui/toggle.tsx';
import type { ViewProps } from '../view.ts';

interface ToolbarProps extends ViewProps {
  reversed: boolean;
  upwards: boolean;
  zoomed: boolean;
  notDrawn: number;
  onSvg(): void;
  onPng(): void;
}

const kTrees = [
  { id: 'calls', label: 'Calls', hint: 'From each thread to what it calls (R)' },
  { id: 'callers', label: 'Callers', hint: 'From where it is spent to who calls it (R)' },
];
const kDirections = [
  { id: 'icicle', label: 'Icicle', hint: 'The root on top (I)' },
  { id: 'flame', label: 'Flame', hint: 'The root at the bottom (I)' },
];

export const toCallers: Patch = { 'flame.of': 'callers', 'flame.at': undefined };
export const toCalls: Patch = { 'flame.of': undefined, 'flame.at': undefined };

export function FlameToolbar(props: ToolbarProps) {
  const { measure, navigate, notDrawn } = props;
  return (
    <div class="toolbar">
      <Toggle
        label="Tree"
        value={props.reversed ? 'callers' : 'calls'}
        choices={kTrees}
        onChange={(id) => navigate(id === 'callers' ? toCallers : toCalls)}
      />
      <Toggle
        label="Direction"
        value={props.upwards ? 'flame' : 'icicle'}
        choices={kDirections}
        onChange={(id) => navigate({ 'flame.as': id === 'flame' ? id : undefined })}
      />
      <button
        type="button"
        disabled={!props.zoomed}
        onClick={() => navigate({ 'flame.at': undefined })}
        title="0"
      >
        Reset zoom
      </button>
      <SaveButtons onSvg={props.onSvg} onPng={props.onPng} />
      <FoldSwitches {...props} />
      <Legend profile={props.profile} theme={props.theme} />
      <span class="unit">
        width: {measure.unit}
        {notDrawn > 0 && (
          <span class="not-drawn"> · {counted(notDrawn, 'frame')} too narrow to draw</span>
        )}
      </span>
    </div>
  );
}
