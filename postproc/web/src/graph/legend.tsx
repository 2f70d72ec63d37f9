// The meaning of the marks in the picture.
import type { FrameKind, Profile } from '../model.ts';
import { legendOf } from '../palette.ts';
import { kAllThreads } from './call_graph.ts';
import type { Picture } from './picture.ts';

function Mark({ words, text }: { words: string; text: string }) {
  return (
    <li>
      <svg width="22" height="14" aria-hidden="true">
        <g class={words}>
          <rect class="box" x="1" y="1" width="20" height="12" rx="4" />
        </g>
      </svg>
      {text}
    </li>
  );
}

function Line({ words, text, width }: { words: string; text: string; width: number }) {
  return (
    <li>
      <svg width="22" height="14" aria-hidden="true">
        <g class={words}>
          <path class="stream" d="M1,7H21" stroke-width={width} />
        </g>
      </svg>
      {text}
    </li>
  );
}

export function GraphLegend({ profile, picture }: { profile: Profile; picture: Picture }) {
  const { nodes } = picture.graph;
  const kinds = nodes
    .filter(({ name }) => name !== kAllThreads)
    .map(({ name }) => profile.kind(name) as FrameKind);
  return (
    <ul class="graph-legend" aria-label="Legend">
      {legendOf(kinds).map(({ kind, label }) => (
        <Mark key={label} words={`node kind-${kind}`} text={label} />
      ))}
      {nodes.some((node) => node.sampled) && <Mark words="node sampled kind-t" text="only samples" />}
      <Line words="river kind-t" text="as wide as its share" width={6} />
      {picture.layout.up.some(Boolean) && <Line words="river back kind-t" text="recursion" width={2} />}
    </ul>
  );
}
