// What was traced, how far it can be trusted, what was lost.
import type { View, ViewProps } from '../view.ts';

function Summary({ profile }: ViewProps) {
  return (
    <section>
      <h2>{profile.data.title}</h2>
      {profile.data.traces.map((trace) => (
        <dl>
          {trace.facts.map(([key, value]) => (
            <>
              <dt>{key}</dt>
              <dd>{value}</dd>
            </>
          ))}
        </dl>
      ))}
    </section>
  );
}

export const summaryView: View = {
  id: 'summary',
  title: 'Summary',
  about: 'What was traced, how far it can be trusted, what was lost',
  component: Summary,
};
