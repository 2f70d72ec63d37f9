// The interface of a view of two traces, as ../view.ts of one.
import type { ComponentType } from 'preact';
import type { Search } from '../search.ts';
import type { Patch, State } from '../state.ts';
import type { Comparison, DiffMeasure } from './model.ts';

export interface DiffViewProps {
  comparison: Comparison;
  measure: DiffMeasure;
  state: State;
  search: Search;
  theme: 'light' | 'dark';
  navigate(patch: Patch, replace?: boolean): void;
}

export interface DiffView {
  id: string; // in the URL
  title: string;
  about: string;
  component: ComponentType<DiffViewProps>;
}
