// What a view is given, with frames folded as the state says.
import { parseLayers } from './folding.ts';
import type { ViewProps } from './view.ts';

export function foldedProps(props: ViewProps): ViewProps {
  const profile = props.profile.folded(parseLayers(props.state.fold));
  if (profile === props.profile) return props;
  return { ...props, profile, measure: profile.measure(props.measure.id) };
}
