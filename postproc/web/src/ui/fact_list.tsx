// What a trace says about itself, by name. Values come from traces: text, in their own direction.
export function FactList({ facts }: { facts: readonly (readonly [string, string])[] }) {
  return (
    <dl class="grid">
      {facts.map(([key, value], i) => (
        <div key={i}>
          <dt>{key.replace(/_/g, ' ')}</dt>
          <dd>
            <bdi>{value}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  );
}
