// What the live page says about the JVM. No DOM here.
import type { PageData } from '../data.ts';
import type { LiveAnswer } from './answer.ts';

export interface LiveStatus {
  readonly answer: LiveAnswer | undefined; // the last one
  readonly error: string; // of the last request; '': it was answered
  readonly refreshed: number; // when the data arrived, in milliseconds; 0: never
}

export interface StatusText {
  readonly tone: 'good' | 'fair' | 'bad';
  readonly state: string;
  readonly about: string;
}

export function statusText({ answer, error }: LiveStatus, paused: boolean): StatusText {
  const kept = 'the page keeps the last data';
  if (error !== '') return { tone: 'bad', state: 'no connection', about: `${error}; ${kept}` };
  if (answer === undefined) return { tone: 'fair', state: 'connecting', about: '' };
  if (answer.state === 'ended') {
    const about = answer.message === '' ? kept : `${kept}: ${answer.message}`;
    return { tone: 'bad', state: `JVM ${answer.pid} is no longer running`, about };
  }
  if (answer.state === 'stopped') {
    return { tone: 'fair', state: 'not recording', about: `${answer.message}; ${kept}` };
  }
  if (answer.message !== '') return { tone: 'fair', state: 'live', about: answer.message };
  return paused ? { tone: 'fair', state: 'paused', about: kept } : { tone: 'good', state: 'live', about: '' };
}

// When the recording began, as milliseconds since 1970; undefined if the trace does not say.
export function recordedSince(data: PageData): number | undefined {
  const fact = data.traces[0]?.facts.find(([key]) => key === 'unix_time_ns');
  return fact === undefined ? undefined : Number(fact[1]) / 1e6;
}

// Since the last refresh: "3 s ago".
export function ageText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s ago`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min ago` : `${Math.round(minutes / 60)} h ago`;
}
