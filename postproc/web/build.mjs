// Bundles src/ into dist/page.html: the page without its data, which jtrace-post inserts at the
// marker. The result is committed; the same sources and tools make the same bytes.
//
//   node build.mjs [OUTPUT]
import { createHash } from 'node:crypto';
import { readFile, writeFile, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const output = process.argv[2] ?? join(here, 'dist', 'page.html');

const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

async function bundle(entry) {
  const result = await build({
    absWorkingDir: here,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    charset: 'utf8',
    format: 'iife',
    target: ['chrome111', 'firefox113', 'safari16.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    write: false,
  });
  return result.outputFiles[0].text.trim();
}

const [script, style, notice, shell] = await Promise.all([
  bundle('src/main.tsx'),
  bundle('src/page.css'),
  readFile(join(here, 'NOTICE'), 'utf8'),
  readFile(join(here, 'src/page.html'), 'utf8'),
]);
if (/<\/script|<!--/i.test(script)) throw new Error('the script would end its own element');

// Only the content of the page may be loaded, sent or run.
const policy = [
  "default-src 'none'",
  `script-src ${hashOf(script)}`,
  `style-src ${hashOf(style)}`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const parts = {
  NOTICE: notice.trim(),
  POLICY: policy,
  STYLE: style,
  SCRIPT: script,
};
const page = shell.replace(/\{\{(\w+)\}\}/g, (whole, name) => parts[name] ?? whole);
await mkdir(dirname(output), { recursive: true });
await writeFile(output, page);
console.log(`${output}: ${page.length} characters`);
