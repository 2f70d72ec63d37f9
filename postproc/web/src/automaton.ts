// Regular expressions that cannot hang: all ways to match are followed at once, so that a text
// takes steps in proportion to its length, where a backtracking matcher may take 2^length. Reports
// only whether there is a match; supports the syntax of RegExp except lookaround and references to
// groups.

const kMostStates = 2000;
const kMostWork = 20_000; // limit of states: repeated parts are laid out again and again

type State =
  | { readonly kind: 'one'; readonly test: (text: string, at: number) => boolean } // consumes
  | { readonly kind: 'assert'; readonly test: (text: string, at: number) => boolean }
  | { readonly kind: 'fork'; to: number[] } // continues at each of them
  | { readonly kind: 'match' };

// Lays out an expression whose syntax RegExp has accepted. Each part ends at the state after its
// last one.
class Compiler {
  readonly states: State[] = [];
  private at = 0;
  private work = 0;

  constructor(private source: string) {}

  compile(): State[] {
    this.alternatives();
    this.emit({ kind: 'match' });
    return this.states;
  }

  private emit(state: State): number {
    if (this.states.length >= kMostStates || ++this.work > kMostWork) {
      throw new Error('The search is too complex');
    }
    return this.states.push(state) - 1;
  }

  private fork(...to: number[]): { to: number[] } {
    const state = { kind: 'fork' as const, to };
    this.emit(state);
    return state;
  }

  private accept(pattern: RegExp): string {
    const sticky = new RegExp(pattern.source, 'iy');
    sticky.lastIndex = this.at;
    const found = sticky.exec(this.source)?.[0] ?? '';
    this.at += found.length;
    return found;
  }

  private alternatives(): void {
    const start = this.fork(this.states.length + 1);
    const ends = [];
    for (;;) {
      while (this.at < this.source.length && !/[|)]/.test(this.source[this.at])) this.repeated();
      if (this.accept(/\|/) === '') break;
      ends.push(this.fork());
      start.to.push(this.states.length);
    }
    for (const end of ends) end.to.push(this.states.length);
  }

  private repeated(): void {
    const begin = this.at;
    const first = this.states.length;
    this.single();
    const end = this.at;
    const bounds = this.bounds();
    if (bounds === undefined) return;
    const [least, most] = bounds;
    const behind = this.at;
    const again = () => {
      this.at = begin;
      this.single();
      this.at = end;
    };
    this.states.length = first;
    for (let i = 0; i < least; ++i) again();
    if (most === Infinity) {
      const loop = this.fork(this.states.length + 1);
      const back = this.states.length - 1;
      again();
      this.fork(back);
      loop.to.push(this.states.length);
    } else {
      const skips = [];
      for (let i = least; i < most; ++i) {
        skips.push(this.fork(this.states.length + 1));
        again();
      }
      for (const skip of skips) skip.to.push(this.states.length);
    }
    this.at = behind;
  }

  private bounds(): [number, number] | undefined {
    const text = this.accept(/[*+?]|\{\d+(?:,\d*)?\}/);
    if (text === '') return undefined;
    this.accept(/\?/); // lazy: the same matches
    if (text === '*') return [0, Infinity];
    if (text === '+') return [1, Infinity];
    if (text === '?') return [0, 1];
    const [least, most] = text.slice(1, -1).split(',');
    return [Number(least), most === undefined ? Number(least) : most === '' ? Infinity : Number(most)];
  }

  private single(): void {
    if (this.accept(/\(\?(?!:|<[^=!])|\\[1-9]|\\k/) !== '') {
      throw new Error('Lookaround and references to groups are not supported here');
    }
    if (this.accept(/\((?:\?:|\?<[^>]*>)?/) !== '') {
      this.alternatives();
      this.accept(/\)/);
      return;
    }
    const assertion = this.accept(/\^|\$|\\b/);
    if (assertion !== '') {
      // \b and \B differ by case.
      const sticky = new RegExp(assertion, 'iy');
      this.emit({ kind: 'assert', test: (text, at) => ((sticky.lastIndex = at), sticky.test(text)) });
      return;
    }
    const one = this.accept(/\[(?:\\.|[^\]\\])*\]|\\(?:x[\da-f]{2}|u[\da-f]{4}|c[a-z]|.)|[^]/);
    const pattern = new RegExp(`^${one === '{' || one === '}' || one === ']' ? `\\${one}` : one}$`, 'i');
    const known = new Map<string, boolean>();
    const test = (text: string, at: number) => {
      const letter = text[at];
      let is = known.get(letter);
      if (is === undefined) known.set(letter, (is = pattern.test(letter)));
      return is;
    };
    this.emit({ kind: 'one', test });
  }
}

// Throws if the expression is invalid or not supported.
export class Automaton {
  private states: State[];
  private seen: Int32Array; // by state: the last step that reached it
  private step = 0;

  constructor(source: string) {
    new RegExp(source, 'i');
    this.states = new Compiler(source).compile();
    this.seen = new Int32Array(this.states.length);
  }

  // Whether the expression matches anywhere in the text.
  test(text: string): boolean {
    let now: number[] = [];
    this.seen.fill(0);
    this.step = 0;
    for (let at = 0; ; ++at) {
      ++this.step;
      const ready: number[] = []; // those that consume
      now.push(0); // a match may begin anywhere
      if (this.follow(now, ready, text, at)) return true;
      if (at === text.length) return false;
      now = ready
        .filter((state) => (this.states[state] as { test(text: string, at: number): boolean }).test(text, at))
        .map((state) => state + 1);
    }
  }

  // All states reached without a letter; true if the end is one of them.
  private follow(from: number[], ready: number[], text: string, at: number): boolean {
    while (from.length > 0) {
      const index = from.pop()!;
      if (this.seen[index] === this.step) continue;
      this.seen[index] = this.step;
      const state = this.states[index];
      if (state.kind === 'match') return true;
      if (state.kind === 'fork') from.push(...state.to);
      else if (state.kind === 'one') ready.push(index);
      else if (state.test(text, at)) from.push(index + 1);
    }
    return false;
  }
}
