// Recordings of small programs with counts of lines.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { buildFolder, sourceFolder } from './post.mjs';

const java = join(process.env.JTRACE_JDK_HOME ?? '/usr/lib/jvm/java-17-openjdk-amd64', 'bin', 'java');

export const workloads = join(sourceFolder, 'java-tests', 'workloads');

// Writes the trace of a program of java-tests/workloads to `path`.
export function recordLines(path, program, ...options) {
  const agent = join(buildFolder, 'lib', 'libjtrace.so');
  execFileSync(
    java,
    [
      `-agentpath:${agent}=${['blocks=on', `include=${program}*`, `out=${path}`, ...options].join(',')}`,
      '-cp',
      join(buildFolder, 'java-tests', 'classes'),
      program,
    ],
    { stdio: 'ignore' },
  );
  return path;
}
