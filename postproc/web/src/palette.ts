// Colours by kind of code: async-profiler's, in a tone for light and one for dark pages.
import type { FrameKind } from './model.ts';

export type Theme = 'light' | 'dark';

interface Hue {
  readonly label: string;
  readonly hue: number;
  readonly saturation: number; // percent
}

const kJava: Hue = { label: 'Java', hue: 128, saturation: 52 };
const kOutOfScope: Hue = { label: 'call out of scope', hue: 215, saturation: 38 };

const kHues: Record<FrameKind, Hue> = {
  J: kJava,
  C: kJava,
  E: kJava,
  I: { label: 'inlined', hue: 178, saturation: 48 },
  N: { label: 'native', hue: 4, saturation: 72 },
  V: { label: 'JVM', hue: 52, saturation: 78 },
  K: { label: 'kernel', hue: 30, saturation: 88 },
  c: kOutOfScope,
  n: kOutOfScope,
  p: kOutOfScope,
  x: { label: 'exception', hue: 322, saturation: 46 },
  m: { label: 'marker', hue: 220, saturation: 6 },
  t: { label: 'thread', hue: 220, saturation: 16 },
};

// A small number that is the same for a name on every page.
function spread(text: string): number {
  let hash = 2166136261;
  for (let i = 0; i < text.length; ++i) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return ((hash >>> 8) & 1023) / 1023 - 0.5;
}

export function kindLabel(kind: FrameKind): string {
  return kHues[kind].label;
}

// `name` changes the tone a little, so that neighbours differ.
export function fillOf(kind: FrameKind, name: string, theme: Theme, sampled: boolean): string {
  const { hue, saturation } = kHues[kind];
  const shift = spread(name);
  const light = theme === 'light' ? (sampled ? 80 : 70) : sampled ? 28 : 36;
  const chroma = (sampled ? 0.9 : 1) * saturation * (theme === 'light' ? 1 : 0.72);
  return `hsl(${hue + shift * 10} ${chroma}% ${light + shift * 9}%)`;
}

export interface LegendEntry {
  readonly kind: FrameKind;
  readonly label: string;
}

// The kinds in `kinds`, each colour once.
export function legendOf(kinds: Iterable<FrameKind>): LegendEntry[] {
  const present = new Set(kinds);
  const seen = new Set<string>();
  const entries: LegendEntry[] = [];
  for (const kind of ['E', 'C', 'J', 'I', 'V', 'N', 'K', 'c', 'n', 'p', 'x', 'm'] as FrameKind[]) {
    const label = kindLabel(kind);
    if (!present.has(kind) || seen.has(label)) continue;
    seen.add(label);
    entries.push({ kind, label });
  }
  return entries;
}
