// A routine's name with its parts distinguished: package and parameters are faint. Names come from
// traces: they are text, never markup, and shown from left to right whatever they contain.
import { partsOf } from '../names.ts';

interface NameProps {
  name: string;
  from?: string; // the line that calls it: ":120"
  at?: string; // the line from which it calls: ":120"
}

export function Name({ name, from = '', at = '' }: NameProps) {
  const [before, short, after] = partsOf(name);
  return (
    <bdi class="name" dir="ltr" title={`${from === '' ? '' : `${from} > `}${name}${at}`}>
      {from !== '' && <span class="site">{from} </span>}
      {before !== '' && <span class="faint before">{before}</span>}
      <span class="short">{short}</span>
      {after !== '' && <span class="faint after">{after}</span>}
      {at !== '' && <span class="site">{at}</span>}
    </bdi>
  );
}
