// The chosen frame in words, with links to the other views.
import { toFunction, toTree } from '../links.ts';
import { GroupButton } from '../ui/group_button.tsx';
import { Name } from '../ui/name.tsx';
import { SourceButton } from '../ui/source_button.tsx';
import { Facts } from '../ui/tooltip.tsx';
import type { ViewProps } from '../view.ts';
import { describe } from './describe.ts';
import { CallTreeSource, type FlameSource } from './source.ts';

interface SelectionProps extends ViewProps {
  source: FlameSource;
  frame: number;
}

export function FlameSelection(props: SelectionProps) {
  const { profile, measure, source, frame, navigate } = props;
  const { title, facts } = describe(profile, measure, source, frame);
  const name = source.name(frame);
  return (
    <div class="selection" id="flame-frame" aria-live="polite">
      <Name name={title} />
      <span class="selection-links">
        {name >= 0 && name < profile.routineCount && (
          <button
            type="button"
            onClick={() => navigate(toFunction(name))}
          >
            Callers and callees
          </button>
        )}
        <SourceButton {...{ profile, navigate, name }} />
        {frame > 0 && source instanceof CallTreeSource && (
          <GroupButton {...props} node={source.profileNode(frame)} />
        )}
        {frame > 0 && source instanceof CallTreeSource && (
          <button
            type="button"
            onClick={() => navigate(toTree(profile, source.profileNode(frame)))}
          >
            In the tree
          </button>
        )}
      </span>
      <Facts facts={facts} />
    </div>
  );
}
