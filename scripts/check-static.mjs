// Format, lint and types, all at once: each keeps one core busy. Prints what each one says when it has ended.
import { spawn } from 'node:child_process';
import { inRoot } from './pinned-node.mjs';

const CHECKS = ['format:check', 'lint', 'types'];

/** Whether it has passed. */
function run(check) {
  const child = spawn('npm', ['run', '--silent', check], { cwd: inRoot(), stdio: ['ignore', 'pipe', 'pipe'] });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
  return new Promise((done, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      process.stdout.write(Buffer.concat(output));
      if (code !== 0) console.error(`npm run ${check} failed.`);
      done(code === 0);
    });
  });
}

const passed = await Promise.all(CHECKS.map(run));
process.exitCode = passed.every(Boolean) ? 0 : 1;
