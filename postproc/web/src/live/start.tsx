// Shows the live page, or why it cannot be shown.
import { render } from 'preact';
import { LiveApp } from './live_app.tsx';
import { takeToken } from './token.ts';

export function startLive(host: HTMLElement): void {
  const token = takeToken();
  if (token === undefined) throw new Error('its address lacks the token; open the one that jtrace web printed');
  host.replaceChildren();
  render(<LiveApp token={token} />, host);
}
