// Pictures that can be compared: the same page gives the same picture on every machine, as far as that
// depends on fonts, paths and versions.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildFolder, sourceFolder } from './post.mjs';

const kShrink = 6; // a reference's pixel is the mean of 6 × 6
const kViewport = { width: 1280, height: 800 };
const kTolerance = 16; // of 255: a pixel differs if its red, green or blue does by more
export const kMostDiffering = 0.015; // of the pixels that are not background in both

const references = join(sourceFolder, 'native-tests', 'web', 'pictures');
const found = join(buildFolder, 'web', 'pictures');
const font = readFileSync(join(references, 'boxes.ttf')).toString('base64');

// For withPage: the page's policy would reject the font.
export function pictureOptions(theme) {
  return { viewport: kViewport, colorScheme: theme, bypassCSP: true, reducedMotion: 'reduce' };
}

// Every text in boxes instead of letters, those on canvases too.
export async function useBoxes(page) {
  await page.addInitScript((face) => {
    const { set, get } = Object.getOwnPropertyDescriptor(CanvasRenderingContext2D.prototype, 'font');
    Object.defineProperty(CanvasRenderingContext2D.prototype, 'font', {
      get,
      set(text) {
        set.call(this, text.replace(/(\d+(\.\d+)?px).*$/, '$1 Boxes'));
      },
    });
    const style = document.createElement('style');
    style.textContent = `@font-face { font-family: Boxes; src: url(data:font/ttf;base64,${face}); } * { font-family: Boxes !important; }`;
    document.addEventListener('DOMContentLoaded', () => document.head.append(style));
  }, font);
}

// PNG of what the page shows, at last.
export async function pictureOf(page) {
  await page.evaluate(async () => {
    await document.fonts.load('12px Boxes');
    await document.fonts.ready;
    dispatchEvent(new Event('resize'));
    for (let i = 0; i < 3; ++i) await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  });
  return page.screenshot({ animations: 'disabled', caret: 'hide' });
}

// Means of squares, as WebP without loss.
export function shrunk(page, picture) {
  return page.evaluate(
    async ([address, step]) => {
      const image = new Image();
      image.src = address;
      await image.decode();
      const read = new OffscreenCanvas(image.width, image.height).getContext('2d', { willReadFrequently: true });
      read.drawImage(image, 0, 0);
      const { data } = read.getImageData(0, 0, image.width, image.height);
      const [width, height] = [image.width, image.height].map((side) => Math.floor(side / step));
      const small = new ImageData(width, height);
      for (let i = 0; i < width * height * 4; ++i) {
        const [x, y, channel] = [Math.floor(i / 4) % width, Math.floor(i / 4 / width), i % 4];
        let sum = 0;
        for (let at = 0; at < step * step; ++at) {
          sum += data[((y * step + Math.floor(at / step)) * image.width + x * step + (at % step)) * 4 + channel];
        }
        // Few values make small files.
        small.data[i] = Math.min(255, 8 * Math.round(sum / (step * step) / 8));
      }
      const canvas = new OffscreenCanvas(width, height);
      canvas.getContext('2d').putImageData(small, 0, 0);
      const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: 'image/webp', quality: 1 })).arrayBuffer());
      return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
    },
    [`data:image/png;base64,${picture.toString('base64')}`, kShrink],
  ).then((text) => Buffer.from(text, 'base64'));
}

// The share of pixels that differ, of those which are not background in both.
export function difference(page, one, other) {
  return page.evaluate(
    async ([addresses, tolerance]) => {
      const pixels = await Promise.all(
        addresses.map(async (address) => {
          const image = new Image();
          image.src = address;
          await image.decode();
          const context = new OffscreenCanvas(image.width, image.height).getContext('2d', { willReadFrequently: true });
          context.drawImage(image, 0, 0);
          return context.getImageData(0, 0, image.width, image.height);
        }),
      );
      const [a, b] = pixels;
      if (a.width !== b.width || a.height !== b.height) return 1;
      const colour = ({ data }, i) => (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
      const counts = new Map();
      for (let i = 0; i < b.data.length; i += 4) counts.set(colour(b, i), (counts.get(colour(b, i)) ?? 0) + 1);
      // The page's background and that of its panels.
      const background = new Set([...counts].sort((x, y) => y[1] - x[1]).slice(0, 2).map(([each]) => each));
      let differing = 0;
      let content = 0;
      for (let i = 0; i < a.data.length; i += 4) {
        if (background.has(colour(a, i)) && background.has(colour(b, i)) && colour(a, i) === colour(b, i)) continue;
        ++content;
        differing += [0, 1, 2].some((channel) => Math.abs(a.data[i + channel] - b.data[i + channel]) > tolerance);
      }
      return content === 0 ? 0 : differing / content;
    },
    [[one, other].map((picture) => `data:image/webp;base64,${picture.toString('base64')}`), kTolerance],
  );
}

export function reference(name) {
  const path = join(references, `${name}.webp`);
  return existsSync(path) ? readFileSync(path) : undefined;
}

// With JTRACE_RENEW_PICTURES the found ones become the references.
export const renews = (process.env.JTRACE_RENEW_PICTURES ?? '') !== '';

export function renew(name, picture) {
  writeFileSync(join(references, `${name}.webp`), picture);
}

// What is wrong with a picture; undefined: nothing. The picture is kept for people.
export async function faultOf(page, name, picture) {
  mkdirSync(found, { recursive: true });
  const path = join(found, `${name}.webp`);
  writeFileSync(path, picture);
  const wanted = reference(name);
  if (wanted === undefined) return `there is no picture ${name}.webp`;
  const share = await difference(page, wanted, picture);
  if (share <= kMostDiffering) return undefined;
  const percent = (100 * share).toFixed(1);
  return `${percent} % of the pixels differ from native-tests/web/pictures/${name}.webp: look at ${path}; if it is right, renew them all (native-tests/web/pictures/README.md)`;
}
