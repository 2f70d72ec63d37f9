// Opens the data and shows the page.
import { render } from 'preact';
import { App } from './app.tsx';
import { openData } from './data.ts';
import { Profile } from './model.ts';

async function start(host: HTMLElement): Promise<void> {
  const element = document.getElementById('profile');
  const profile = new Profile(await openData(element?.textContent ?? ''));
  element?.remove();
  document.title = `${profile.data.title} – jtrace`;
  host.replaceChildren();
  render(<App profile={profile} />, host);
}

const host = document.getElementById('app')!;
start(host).catch((error: unknown) => {
  host.textContent = `This profile cannot be shown: ${String(error)}`;
});
