// Which recording data is of: a JVM may have several, one after the other. No DOM here.
import type { PageData } from '../data.ts';

const kIdentity = ['host', 'pid', 'unix_time_ns'];

// The same for all data of a recording, and for no other.
export function recordingOf({ traces }: PageData): string {
  return traces
    .map(({ facts }) => facts.filter(([key]) => kIdentity.includes(key)).map(([, value]) => value).join(' '))
    .join('\n');
}
