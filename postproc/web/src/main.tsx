// Opens the data and shows the page.
import { render } from 'preact';
import { App } from './app.tsx';
import { openData } from './data.ts';
import { DiffApp } from './diff/app.tsx';
import { isDiff } from './diff/data.ts';
import { startLive } from './live/start.tsx';
import { Profile } from './model.ts';

async function start(host: HTMLElement): Promise<void> {
  const element = document.getElementById('profile');
  if (element?.dataset.live !== undefined) return startLive(host);
  const data = await openData(element?.textContent ?? '');
  element?.remove();
  host.replaceChildren();
  render(isDiff(data) ? <DiffApp data={data} /> : <App profile={new Profile(data)} />, host);
}

const host = document.getElementById('app')!;
start(host).catch((error: unknown) => {
  const message = document.createElement('p');
  message.className = 'failed';
  message.textContent = `This profile cannot be shown: ${String(error)}`;
  host.replaceChildren(message);
});
