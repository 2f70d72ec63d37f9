// Source files with counts of their lines: which lines a listing shows, where a routine is. No DOM.
import type { SourceFile, SourceMethod, Sources } from './data.ts';

export interface SourcePlace {
  readonly file: number; // in Sources.files
  readonly line: number;
}

export class SourceIndex {
  private places = new Map<number, SourcePlace>();

  constructor(readonly data: Sources) {
    data.files.forEach((file, index) => {
      for (const { routine, first, inlined } of file.methods ?? []) {
        const known = this.places.get(routine);
        if (routine >= 0 && (known === undefined || !inlined)) {
          this.places.set(routine, { file: index, line: first });
        }
      }
    });
  }

  get isEmpty(): boolean {
    return this.data.files.length === 0;
  }

  // Of a routine by its number.
  placeOf(routine: number): SourcePlace | undefined {
    return this.places.get(routine);
  }
}

// A line of a listing. `at` is its place in the file's columns; -1: it has no code.
export interface ListedLine {
  readonly number: number;
  readonly at: number;
  readonly text: string;
}

// Every line of the source, and those with code that it does not have (another version).
export function listedLines(file: SourceFile): ListedLine[] {
  const numbers = file.number ?? [];
  const text = file.text ?? [];
  const lines: ListedLine[] = [];
  let next = 0;
  const addCounted = (before: number) => {
    for (; next < numbers.length && numbers[next] < before; ++next) {
      lines.push({ number: numbers[next], at: next, text: '' });
    }
  };
  text.forEach((line, i) => {
    const hasCode = next < numbers.length && numbers[next] === i + 1;
    if (!hasCode) addCounted(i + 1);
    lines.push({ number: i + 1, at: hasCode ? next++ : -1, text: line });
  });
  addCounted(Number.POSITIVE_INFINITY);
  return lines;
}

// The methods whose lines a line is among, the innermost first.
export function methodsAt(file: SourceFile, line: number): SourceMethod[] {
  return (file.methods ?? [])
    .filter(({ first, last }) => first <= line && line <= last)
    .sort((a, b) => a.last - a.first - (b.last - b.first) || b.first - a.first);
}

export function markWords(mark: string): string {
  const words: Record<string, string> = {
    '|': 'it ran',
    '+': 'it has several blocks, and some ran',
    '#': 'it never ran',
  };
  return words[mark] ?? 'no code';
}
