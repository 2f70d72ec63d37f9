// The line above the page: which JVM, since when, how old the numbers are, and a button that stops
// them.
import { useEffect, useState } from 'preact/hooks';
import type { PageData } from '../data.ts';
import { ageText, type LiveStatus, recordedSince, statusText } from './status.ts';

function timeOf(ms: number): string {
  return new Date(ms).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' });
}

// Renders each second.
function Age({ since }: { since: number }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return <>{ageText(Date.now() - since)}</>;
}

interface LiveBarProps {
  status: LiveStatus;
  data: PageData | undefined;
  paused: boolean;
  onPause(paused: boolean): void;
}

export function LiveBar({ status, data, paused, onPause }: LiveBarProps) {
  const { answer, refreshed } = status;
  const { tone, state, about } = statusText(status, paused);
  const since = data === undefined ? undefined : recordedSince(data);
  const isOver = answer?.state === 'ended';
  return (
    <div class="live-bar">
      <span role="status" data-live={answer?.state ?? ''} data-serial={answer?.serial ?? 0}>
        <b class={`${tone} badge`}>{state}</b> {about}
      </span>
      {answer !== undefined && (
        <span>
          JVM {answer.pid} <bdi>{answer.program}</bdi>
        </span>
      )}
      {since !== undefined && <span>recorded since {timeOf(since)}</span>}
      {refreshed > 0 && (
        <span>
          last refresh {timeOf(refreshed)}, <Age since={refreshed} />
        </span>
      )}
      {!isOver && (
        <button type="button" aria-pressed={paused} onClick={() => onPause(!paused)}>
          {paused ? 'Go on' : 'Pause'}
        </button>
      )}
    </div>
  );
}
