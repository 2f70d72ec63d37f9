// The page as jtrace web serves it: the profile is replaced by a newer one about each second.
import { useEffect, useRef, useState } from 'preact/hooks';
import { App } from '../app.tsx';
import { openData } from '../data.ts';
import type { Profile } from '../model.ts';
import { formatHash, parseHash } from '../state.ts';
import { fetchAnswer, Forbidden, type LiveAnswer } from './answer.ts';
import { LiveBar } from './bar.tsx';
import { carried } from './carry.ts';
import { LiveContext } from './context.ts';
import { Lineage } from './lineage.ts';
import { Poller } from './poller.ts';
import type { LiveStatus } from './status.ts';

// App reads its state from the URL when it hears of a change; it renders once, with both.
function carryState(old: Profile, next: Profile): void {
  const hash = formatHash(carried(parseHash(location.hash), old.data, next.data));
  if (hash === formatHash(parseHash(location.hash))) return;
  history.replaceState(null, '', hash);
  dispatchEvent(new PopStateEvent('popstate'));
}

function errorText(error: unknown): string {
  if (error instanceof Forbidden) return 'another jtrace web runs here now; open the address that it printed';
  // What fetch throws where nobody answers.
  if (error instanceof TypeError) return 'jtrace web does not answer, it may have ended';
  return error instanceof Error ? error.message : String(error);
}

// The next frame, or soon where none is drawn.
function drawn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 500);
    requestAnimationFrame(() => setTimeout(resolve));
  });
}

export function LiveApp({ token }: { token: string }) {
  const [profile, setProfile] = useState<Profile>();
  const [status, setStatus] = useState<LiveStatus>({ answer: undefined, error: '', refreshed: 0 });
  const [paused, setPaused] = useState(false);
  const poller = useRef<Poller>(undefined);
  useEffect(() => {
    const lineage = new Lineage();
    let shown: Profile | undefined;
    const show = async ({ data, ...answer }: LiveAnswer) => {
      if (data !== undefined) {
        const next = lineage.next(await openData(data));
        if (shown !== undefined) carryState(shown, next);
        shown = next;
        setProfile(next);
      }
      const refreshed = answer.age_ms === undefined ? 0 : Date.now() - answer.age_ms;
      setStatus({ answer, error: '', refreshed });
      await drawn();
    };
    poller.current = new Poller({
      fetch: (after) => fetchAnswer(token, after),
      show,
      failed: (error) => setStatus((last) => ({ ...last, error: errorText(error) })),
      now: () => performance.now(),
      wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    });
    void poller.current.run();
  }, []);
  // Nobody looks at a hidden tab.
  useEffect(() => {
    const follow = () => poller.current!.setPaused(paused || document.hidden);
    follow();
    document.addEventListener('visibilitychange', follow);
    return () => document.removeEventListener('visibilitychange', follow);
  }, [paused]);
  return (
    <LiveContext.Provider value={true}>
      <LiveBar {...{ status, paused }} data={profile?.data} onPause={setPaused} />
      {profile !== undefined && <App profile={profile} />}
    </LiveContext.Provider>
  );
}
