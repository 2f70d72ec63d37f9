// A JVM that is being recorded, and jtrace web on it.
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buildFolder } from './post.mjs';

const java = join(process.env.JTRACE_JDK_HOME ?? '/usr/lib/jvm/java-17-openjdk-amd64', 'bin', 'java');

// A program that prints lines; ends with the test.
class Program {
  constructor(command, args) {
    this.child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
    this.ended = new Promise((resolve) => this.child.on('exit', (code) => resolve(code)));
  }

  async line() {
    return (await this.lines.next()).value;
  }

  // The answer to a line of input.
  async ask(text) {
    this.child.stdin.write(`${text}\n`);
    return this.line();
  }
}

// Runs `use` with java-tests/workloads/Attached.java, the address of its live page, and its trace.
export async function withLiveJvm(options, use) {
  const trace = join(mkdtempSync(join(tmpdir(), 'jtrace-live-')), 'live.bin');
  const agent = join(buildFolder, 'lib', 'libjtrace.so');
  const classes = join(buildFolder, 'java-tests', 'classes');
  const recording = [`out=${trace}`, 'log=none', ...options].join(',');
  const jvm = new Program(java, [`-agentpath:${agent}=${recording}`, '-cp', classes, 'Attached', '0']);
  let web;
  try {
    await jvm.line(); // ready
    web = new Program(join(buildFolder, 'bin', 'jtrace'), ['web', `${jvm.child.pid}`]);
    await use({ jvm, web, url: await web.line(), trace });
  } finally {
    web?.child.kill('SIGINT');
    jvm.child.kill('SIGKILL');
    await Promise.all([jvm.ended, web?.ended]);
  }
}
