// What is above the views of any page: tabs, the choice of the measure, buttons.
import { useEffect, useRef } from 'preact/hooks';
import type { Theme } from '../palette.ts';
import { formatHash, patched, type State } from '../state.ts';

interface Tab {
  readonly id: string; // in the URL
  readonly title: string;
  readonly about: string;
}

export function Tabs({ views, state, current }: { views: readonly Tab[]; state: State; current: Tab }) {
  const active = useRef<HTMLAnchorElement>(null);
  // On a phone the tabs are wider than the window.
  useEffect(() => active.current?.scrollIntoView({ block: 'nearest', inline: 'center' }), [current]);
  return (
    <nav aria-label="Views">
      {views.map((view, i) => (
        <a
          key={view.id}
          ref={view === current ? active : undefined}
          href={formatHash(patched(state, { view: view.id }))}
          title={`${view.about} (${i + 1})`}
          aria-current={view === current ? 'page' : undefined}
        >
          {view.title}
        </a>
      ))}
    </nav>
  );
}

interface MetricProps {
  measures: readonly { readonly id: string; readonly label: string }[];
  measure: { readonly id: string };
  onChange(id: string): void;
}

export function MetricSwitch({ measures, measure, onChange }: MetricProps) {
  return (
    <label class="metric">
      <span>Metric</span>
      <select value={measure.id} onChange={(event) => onChange(event.currentTarget.value)}>
        {measures.map((each) => (
          <option key={each.id} value={each.id}>
            {each.label}
          </option>
        ))}
      </select>
    </label>
  );
}

interface ButtonsProps {
  theme: Theme;
  onTheme(next: Theme): void;
  onHelp(): void;
}

export function PageButtons({ theme, onTheme, onHelp }: ButtonsProps) {
  return (
    <>
      <button
        type="button"
        class="icon"
        aria-label={theme === 'dark' ? 'Light theme' : 'Dark theme'}
        title="D"
        onClick={() => onTheme(theme === 'dark' ? 'light' : 'dark')}
      >
        {theme === 'dark' ? '☀' : '☾'}
      </button>
      <button type="button" class="icon" aria-label="Keys" title="?" onClick={onHelp}>
        ?
      </button>
    </>
  );
}
