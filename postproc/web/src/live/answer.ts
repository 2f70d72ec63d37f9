// What jtrace web answers (postproc/live/live_answer.h).
export interface LiveAnswer {
  readonly state: 'live' | 'stopped' | 'ended';
  readonly pid: number;
  readonly program: string;
  readonly message: string; // one line, if something is not as it should be
  readonly serial: number; // of the data
  readonly age_ms?: number;
  readonly cost_ms: number;
  readonly data?: string; // if newer than asked for; as in the page of --report=html
}

// The token is not the server's: another jtrace runs there now.
export class Forbidden extends Error {}

export async function fetchAnswer(token: string, after: number): Promise<LiveAnswer> {
  const response = await fetch(`data?after=${after}`, {
    headers: { Authorization: `Bearer ${token}` },
    cache: 'no-store',
    credentials: 'omit',
  });
  if (response.status === 403) throw new Forbidden();
  if (!response.ok) throw new Error(`jtrace web answers ${response.status}`);
  return (await response.json()) as LiveAnswer;
}
