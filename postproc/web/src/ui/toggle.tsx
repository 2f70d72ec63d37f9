// A choice of few, as buttons side by side.
export interface Choice {
  readonly id: string;
  readonly label: string;
  readonly hint?: string;
}

interface ToggleProps {
  label: string;
  choices: readonly Choice[];
  value: string;
  onChange(id: string): void;
}

export function Toggle({ label, choices, value, onChange }: ToggleProps) {
  return (
    <div class="toggle" role="group" aria-label={label}>
      {choices.map((choice) => (
        <button
          key={choice.id}
          type="button"
          aria-pressed={choice.id === value}
          title={choice.hint}
          onClick={() => onChange(choice.id)}
        >
          {choice.label}
        </button>
      ))}
    </div>
  );
}
