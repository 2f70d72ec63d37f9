// The interface of a view. A new one: a component in views/, and a line in views.ts.
import type { ComponentType } from 'preact';
import type { Measure } from './measure.ts';
import type { Profile } from './model.ts';
import type { Search } from './search.ts';
import type { Patch, State } from './state.ts';
import type { Unfolded } from './thread_groups.ts';

// Which threads are merged in the profile.
export interface ThreadsChoice {
  readonly recorded: Profile; // each thread apart
  readonly unfolded: Unfolded;
}

export interface ViewProps {
  profile: Profile;
  threads: ThreadsChoice;
  measure: Measure; // the meaning of sizes and shares
  state: State;
  search: Search; // the page's search box
  theme: 'light' | 'dark';
  // Changes the state, and with it the URL. `replace` leaves no entry in the browser's history.
  navigate(patch: Patch, replace?: boolean): void;
}

export interface View {
  id: string; // in the URL
  title: string;
  about: string; // one line for a tooltip
  component: ComponentType<ViewProps>;
}
