// A routine's name with its parts distinguished: package and parameters are faint. Names come from
// traces: they are text, never markup, and shown from left to right whatever they contain.
import { partsOf } from '../names.ts';

export function Name({ name }: { name: string }) {
  const [before, short, after] = partsOf(name);
  return (
    <bdi class="name" dir="ltr" title={name}>
      {before !== '' && <span class="faint">{before}</span>}
      <span>{short}</span>
      {after !== '' && <span class="faint">{after}</span>}
    </bdi>
  );
}
