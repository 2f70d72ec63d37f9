// The search box with its results.
import type { RefObject } from 'preact';
import { counted, formatPercent } from '../format.ts';
import type { Measure } from '../measure.ts';
import type { Matched, Search } from '../search.ts';

interface SearchBoxProps {
  search: Search;
  measure: Measure;
  matched: Matched;
  input: RefObject<HTMLInputElement | null>;
  onChange(text: string): void;
}

export function SearchBox({ search, measure, matched, input, onChange }: SearchBoxProps) {
  const found =
    search.error !== ''
      ? search.error
      : search.active
        ? `${formatPercent(matched.value, measure.whole)} matched, ${counted(matched.routines, 'routine')}`
        : '';
  return (
    <div class="search" role="search">
      <input
        ref={input}
        type="search"
        placeholder="Search (Ctrl+F)"
        aria-label="Search names, as a regular expression"
        aria-invalid={search.error !== ''}
        spellcheck={false}
        value={search.text}
        onInput={(event) => onChange(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') event.currentTarget.blur();
        }}
      />
      <output class={search.error === '' ? '' : 'error'} title={found}>
        {found}
      </output>
    </div>
  );
}
