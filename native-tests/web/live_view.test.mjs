// jtrace web in Chromium, on a JVM that runs: numbers grow, and what is chosen stays.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { useBrowser, withUrl } from './support/browser.mjs';
import { withLiveJvm } from './support/live.mjs';
import { buildFolder, csv } from './support/post.mjs';

useBrowser();

const kPatience = { timeout: 60_000 };
const kStep = 'Attached.step(long)';
const kOfThreads = 15_000_000; // calls of it that "threads 3" makes

// Waits until the page's table has this many calls of step.
function untilCalls(page, calls) {
  return page.waitForFunction(
    ([name, wanted]) =>
      Array.from(document.querySelectorAll('.table-body [role=row]')).some(
        (row) =>
          row.querySelector('[data-column=name]').dataset.value === name &&
          Number(row.querySelector('[data-column=calls]').dataset.value) === wanted,
      ),
    [kStep, calls],
    kPatience,
  );
}

const row = (page, name) => page.locator(`.table-body [role=row]:has([data-column=name][data-value="${name}"])`);
const selected = (page) =>
  page.$eval('.table-body [aria-selected=true] [data-column=name]', (cell) => cell.dataset.value);
// The page's own, which is never late.
const state = async (page) => Object.fromEntries(new URLSearchParams(await page.evaluate(() => location.hash.slice(1))));
const status = (page, state) => page.waitForSelector(`.live-bar [data-live=${state}]`, kPatience);
// In the call tree, after 1000 calls of it. Opens what is not open: the page may have begun before there was anything.
async function chooseStep(page) {
  await row(page, 'main').waitFor(kPatience);
  while ((await row(page, kStep).count()) === 0) {
    await row(page, 'main').click();
    await page.keyboard.press('*');
    await page.waitForTimeout(100);
  }
  await untilCalls(page, 1000);
  await row(page, kStep).click();
}
const total = (trace) => csv('flat', trace).find(({ name }) => name === kStep).calls;

test('numbers grow in the call tree, and the open and chosen nodes stay', async () => {
  await withLiveJvm(['mode=events', 'include=Attached'], async ({ jvm, web, url, trace }) => {
    await jvm.ask('work 1000');
    await withUrl(`${url}&view=tree&m=calls`, async (page) => {
      await row(page, 'main').waitFor(kPatience);
      assert.equal((await state(page)).token, undefined, 'the address is without the token');
      await chooseStep(page);
      const { 'tree.open': open } = await state(page);

      // Other threads and routines, so that numbers of all kinds change, and a hotter path.
      await jvm.ask('threads 3');
      await jvm.ask('work 4000');
      await untilCalls(page, 5000);
      assert.equal(await selected(page), kStep);
      assert.equal((await state(page))['tree.open'], open);
      await status(page, 'live');

      // A routine that is chosen by its number.
      await row(page, kStep).click();
      await page.getByRole('button', { name: 'Callers and callees' }).click();
      await page.waitForSelector(`h2:has-text("step")`);
      await jvm.ask('work 2000');
      await page.waitForSelector(`[data-card=calls][data-value="${7000 + kOfThreads}"]`, kPatience);
      assert.match(await page.textContent('h2'), /step/);

      // The end of the JVM: the last numbers stay.
      await page.goBack();
      await jvm.ask('work 500');
      await jvm.ask('end');
      await jvm.ended;
      await status(page, 'ended');
      assert.match(await page.textContent('.live-bar'), /JVM \d+ is no longer running/);
      await untilCalls(page, 7500);
      assert.equal(total(trace), 7500 + kOfThreads);
    });
    web.child.kill('SIGINT');
    assert.equal(await web.ended, 0);
  });
});

test('the flame graph keeps its zoom and its chosen frame', async () => {
  await withLiveJvm(['mode=events', 'include=Attached'], async ({ jvm, url }) => {
    await jvm.ask('work 1000');
    await withUrl(`${url}&view=tree&m=calls`, async (page) => {
      await chooseStep(page);
      await page.getByRole('button', { name: 'In the flame graph' }).click();
      await page.waitForSelector('.selection:has-text("Attached.step")');
      await jvm.ask('threads 3');
      await jvm.ask('work 4000');
      await page.waitForSelector('.selection:has-text("5,000")', kPatience);
      assert.match(await page.textContent('.selection .name'), /Attached\.step/);
    });
  });
});

test('another recording of the JVM begins without what was chosen in the last one', async () => {
  await withLiveJvm(['mode=events', 'include=Attached'], async ({ jvm, url, trace }) => {
    await jvm.ask('work 1000');
    await withUrl(`${url}&view=tree&m=calls`, async (page) => {
      await chooseStep(page);
      await page.getByRole('button', { name: 'In the flame graph' }).click();
      await page.waitForSelector('.selection:has-text("Attached.step")');
      const chosen = (await state(page))['flame.at'];
      assert.match(chosen, /^\d{6,}$/);
      const jtrace = (...words) => execFileSync(join(buildFolder, 'bin', 'jtrace'), words, { stdio: 'ignore' });
      jtrace('stop', `${jvm.child.pid}`);
      jtrace('start', `${jvm.child.pid}`, `mode=events,include=Attached,sites=on,out=${trace}.2`);
      await jvm.ask('work 77');
      await page.waitForFunction(() => !new URLSearchParams(location.hash.slice(1)).has('flame.at'), undefined, kPatience);
      await page.click('nav a[href*="view=flat"]');
      await untilCalls(page, 77);
      assert.notEqual((await state(page))['flame.at'], chosen);
    });
  });
});

test('a pause stops requests, and going on shows what came meanwhile', async () => {
  await withLiveJvm(['mode=events', 'include=Attached'], async ({ jvm, url }) => {
    await jvm.ask('work 1000');
    await withUrl(`${url}&view=flat&m=calls`, async (page) => {
      await untilCalls(page, 1000);
      await page.getByRole('button', { name: 'Pause' }).click();
      // The request that waited is answered; no other follows it.
      await page.waitForSelector('.live-bar :text("paused")');
      await jvm.ask('work 10');
      await page.getByRole('button', { name: 'Go on' }).click();
      await untilCalls(page, 1010);
    });
  });
});

test('without the token the page says which address to open', async () => {
  await withLiveJvm(['mode=events', 'include=Attached'], async ({ url }) => {
    await withUrl(url.replace(/#.*/, ''), async (page) => {
      assert.match(await page.textContent('.failed'), /lacks the token; open the one that jtrace web printed/);
    }, '.failed');
  });
});
