// Loads the page's modules under node.
import { build } from 'esbuild';

// A module of the page by its path in src/, without .ts.
export async function load(path) {
  const { outputFiles } = await build({
    entryPoints: [`src/${path}.ts`],
    bundle: true,
    format: 'esm',
    write: false,
  });
  const code = Buffer.from(outputFiles[0].text).toString('base64');
  return import(`data:text/javascript;base64,${code}`);
}
