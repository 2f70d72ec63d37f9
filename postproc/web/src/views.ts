// The views, in the order of their tabs.
import { graphView } from './graph/view.tsx';
import { sourceView } from './source/view.tsx';
import type { View } from './view.ts';
import { flameView } from './views/flame.tsx';
import { flatView } from './views/flat.tsx';
import { functionView } from './views/function.tsx';
import { summaryView } from './views/summary.tsx';
import { threadsView } from './views/threads.tsx';
import { timelineView } from './views/timeline.tsx';
import { treeView } from './views/tree.tsx';

export const views: readonly View[] = [
  summaryView,
  flameView,
  treeView,
  graphView,
  flatView,
  functionView,
  sourceView,
  threadsView,
  timelineView,
];
