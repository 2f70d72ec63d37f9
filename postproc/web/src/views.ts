// The views, in the order of their tabs.
import type { View } from './view.ts';
import { summaryView } from './views/summary.tsx';

export const views: readonly View[] = [summaryView];
