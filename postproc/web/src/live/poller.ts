// Requests data again and again: one request at a time, none while paused, until the JVM has ended.
// No DOM here.
import type { LiveAnswer } from './answer.ts';
import { Forbidden } from './answer.ts';

const kShare = 4; // rests for each time at work, as jtrace web has them
const kRetryMs = 3000;

export interface PollerHooks {
  fetch(after: number): Promise<LiveAnswer>;
  // Shows it; takes as long as that takes.
  show(answer: LiveAnswer): Promise<void>;
  failed(error: unknown): void;
  now(): number; // in milliseconds
  wait(ms: number): Promise<void>;
}

export class Poller {
  private serial = 0;
  private paused = false;
  private resume: (() => void) | undefined;

  constructor(private readonly hooks: PollerHooks) {}

  setPaused(paused: boolean): void {
    this.paused = paused;
    if (!paused) this.resume?.();
  }

  // Ends with the JVM, or if the token is wrong.
  async run(): Promise<void> {
    for (;;) {
      if (this.paused) await new Promise<void>((resolve) => (this.resume = resolve));
      try {
        const answer = await this.hooks.fetch(this.serial);
        const begin = this.hooks.now();
        await this.hooks.show(answer);
        this.serial = answer.serial;
        if (answer.state === 'ended') return;
        // jtrace web rests after its own work; this is for the browser's.
        await this.hooks.wait(kShare * (this.hooks.now() - begin));
      } catch (error) {
        this.hooks.failed(error);
        if (error instanceof Forbidden) return;
        await this.hooks.wait(kRetryMs);
      }
    }
  }
}
