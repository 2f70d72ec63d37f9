// Runs jtrace-post, and reads its output.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';

export const sourceFolder = process.env.JTRACE_SOURCE;
export const buildFolder = process.env.JTRACE_BUILD;

const folder = mkdtempSync(join(tmpdir(), 'jtrace-web-'));
let files = 0;

export function golden(name) {
  return join(sourceFolder, 'native-tests', 'golden', `${name}.jtxt`);
}

// A text trace with these lines.
export function writeTrace(lines, unit = 'ns') {
  const path = join(folder, `trace${++files}.jtxt`);
  writeFileSync(path, `# jtrace-text 1 unit=${unit}\n${lines.map((line) => `${line}\n`).join('')}`);
  return path;
}

export function post(...args) {
  return execFileSync(process.env.JTRACE_POST, args, {
    maxBuffer: 1 << 30,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

// Fields as RFC 4180 has them.
function parseCsv(text) {
  const rows = [[]];
  for (const match of text.matchAll(/("(?:[^"]|"")*"|[^,\r\n]*)(,|\r?\n|$)/g)) {
    const [whole, field, end] = match;
    if (whole === '') break;
    rows.at(-1).push(field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field);
    if (end !== ',') rows.push([]);
  }
  return rows.filter((row) => row.length > 0);
}

// A report's rows as objects; numbers where they look like it, but not in `name`.
export function csv(report, trace, ...args) {
  const [head, ...rows] = parseCsv(post(`--report=${report}`, '--format=csv', ...args, trace).toString());
  const texts = new Set(['list', 'routine', 'name', 'self', 'thread', 'origin', 'row', 'key', 'kind', 'cost', 'caller', 'callee', 'recursion', 'unit', 'site']);
  return rows.map((row) =>
    Object.fromEntries(row.map((cell, i) => [head[i], texts.has(head[i]) ? cell : Number(cell)])),
  );
}

export function writePage(trace, ...args) {
  const path = join(folder, `page${++files}.html`);
  post('--report=html', '-o', path, ...args, trace);
  return path;
}

// The comparison of two traces as a page.
export function writeDiffPage([before, after], ...args) {
  const path = join(folder, `page${++files}.html`);
  post('--report=diff,html', '-o', path, ...args, before, after);
  return path;
}

export function pageUrl(path, state = {}) {
  return `${pathToFileURL(path)}#${new URLSearchParams(state)}`;
}

const kData = /(<script type="application\/gzip" id="profile">)([^<]*)(<\/script>)/;

// The data that a page's script reads, opened by other means.
export function dataOf(html) {
  const [, , packed] = html.match(kData);
  return JSON.parse(gunzipSync(Buffer.from(packed, 'base64')).toString());
}

// The page with other data.
export function changedPage(page, change) {
  const html = readFileSync(page, 'utf8');
  const packed = gzipSync(JSON.stringify({ ...dataOf(html), ...change })).toString('base64');
  const path = join(folder, `page${++files}.html`);
  writeFileSync(path, html.replace(kData, (_, before, old, after) => before + packed + after));
  return path;
}
