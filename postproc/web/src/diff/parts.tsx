// Small parts that the views of two traces share.
import { useTheme } from '../theme.ts';
import { deltaOf, growthOf, kStepWords, type Step, stepOfChange } from './change.ts';
import { fillOfStep } from './colours.ts';
import type { Comparison, DiffMeasure } from './model.ts';
import { deltaIn, type Pair } from './rows.ts';

const kSteps: readonly Step[] = [-4, -3, -2, -1, 0, 1, 2, 3, 4];

function Swatch({ step, hatched = false }: { step: Step; hatched?: boolean }) {
  return (
    <i
      class={hatched ? 'hatched' : ''}
      style={{ backgroundColor: fillOfStep(step, useTheme()) }}
      title={step < 0 ? `shrank ${kStepWords[step + 4]}` : step > 0 ? `grew ${kStepWords[step + 4]}` : kStepWords[4]}
    />
  );
}

export function ChangeLegend({ isSampled }: { isSampled: boolean }) {
  return (
    <ul class="legend" aria-label="Colours">
      <li>
        shrank to less than half
        <span class="ramp">
          {kSteps.map((step) => (
            <Swatch key={step} step={step} />
          ))}
        </span>
        grew to more than double
      </li>
      <li>
        <Swatch step={-4} hatched /> gone
      </li>
      <li>
        <Swatch step={4} hatched /> new
      </li>
      {isSampled && (
        <li title="Less than 3 standard deviations: samples of the same program differ as much">
          <Swatch step={0} /> the same, or within chance
        </li>
      )}
    </ul>
  );
}

interface DeltaProps {
  comparison: Comparison;
  measure: DiffMeasure;
  pair: Pair;
}

// The colour's step; 0 within chance.
export function stepOfPair({ comparison, measure, pair }: DeltaProps): Step {
  if (comparison.isChance(measure, pair.before, pair.after)) return 0;
  return stepOfChange(pair.before, pair.after);
}

// "+510 ns · +106.3 %" with its colour.
export function Delta(props: DeltaProps) {
  const { comparison, measure, pair } = props;
  const theme = useTheme();
  if (deltaIn(pair) === 0) return null;
  const chance = comparison.isChance(measure, pair.before, pair.after);
  return (
    <span class={`delta ${chance ? 'faint' : ''}`} title={chance ? 'within chance: less than 3 standard deviations' : undefined}>
      <i class="dot" style={{ background: fillOfStep(stepOfPair(props), theme) }} />
      {deltaOf(measure, pair.before, pair.after)} · {growthOf(pair.before, pair.after)}
    </span>
  );
}
