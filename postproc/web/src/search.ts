// The search box: a regular expression over names.
import type { Profile } from './model.ts';

export interface Search {
  readonly text: string;
  readonly error: string; // why the text is no regular expression; else empty
  readonly active: boolean;
  matches(name: number): boolean; // a routine or thread by its number
}

export function searchFor(profile: Profile, text: string): Search {
  const idle = { text, error: '', active: false, matches: () => false };
  if (text === '') return idle;
  try {
    const pattern = new RegExp(text, 'i');
    const known = new Int8Array(profile.nameCount); // 0: not asked yet
    const matches = (name: number) => {
      if (known[name] === 0) known[name] = pattern.test(profile.text(name)) ? 1 : -1;
      return known[name] > 0;
    };
    return { text, error: '', active: true, matches };
  } catch (error) {
    return { ...idle, error: error instanceof Error ? error.message : String(error) };
  }
}
