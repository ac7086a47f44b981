// A small database that a release made itself, as a backup: later versions are tested on it.
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './run.mjs';

/** In test/e2e/released-versions.spec.ts too. */
const SECRET_KEY = 'the secret key of released versions';
const API_KEY = 'sk-known-to-everyone-in-each-released-database';
const START_MS = 120_000;
const EMAIL = 'ann@example.com';

/**
 * Starts an unpacked release on an empty DATA_DIR, has it serve calls of the built-in demo model, and backs it up.
 * @param {string} folder the unpacked release
 * @param {string} file does not exist yet
 */
export async function makeDatabase(folder, file) {
  const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-release-'));
  // PostgreSQL does not run as root, and its user must reach the folder.
  chmodSync(dataDir, 0o755);
  const env = { PATH: process.env.PATH, DATA_DIR: dataDir, SECRET_KEY, PORT: '0', DEMO: 'on', LOG_LEVEL: 'warn' };
  const program = join(folder, 'switchboard');
  const server = spawn(program, ['start'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((done) => server.once('exit', (code) => done(code)));
  const command = (...args) => run(program, args, { env, cwd: folder });
  try {
    const address = await addressOf(server);
    const importKey = (...args) =>
      run(program, ['key', 'import', ...args, '--secret-stdin'], { env, input: API_KEY, stdio: ['pipe', 'pipe', 'inherit'] });
    await fill(command, importKey, address);
    command('backup', file);
  } finally {
    server.kill('SIGTERM');
    await ended;
    rmSync(dataDir, { recursive: true });
  }
}

function addressOf(server) {
  return new Promise((done, fail) => {
    let output = '';
    const timer = setTimeout(() => fail(new Error(`The release has not started.\n${output}`)), START_MS);
    server.stdout.on('data', (chunk) => {
      output += chunk;
      const [, address] = /Switchboard is at (\S+)\n/.exec(output) ?? [];
      if (address === undefined) return;
      clearTimeout(timer);
      done(address);
    });
    server.once('exit', (code) => {
      clearTimeout(timer);
      fail(new Error(`The release has ended with ${code}.\n${output}`));
    });
  });
}

async function fill(command, importKey, address) {
  command('account', 'create', '--email', EMAIL, '--password', 'a password of then', '--verified', '--credit', '10');
  command('account', 'allowance', '--email', EMAIL, '--amount', '5');
  command('account', 'limits', '--email', EMAIL, '--rpm', '600');
  const key = ['--email', EMAIL, '--name', 'laptop', '--daily', '1', '--monthly', '9', '--networks', '127.0.0.0/8'];
  importKey(...key);
  command('invitation', 'create', '--count', '2');
  const code = command('redemption', 'create', '--amount', '2', '--count', '2').split('\n')[0];
  command('redemption', 'redeem', '--email', EMAIL, '--code', code);
  const [model, hello] = ['demo', [{ role: 'user', content: 'Hello' }]];
  for (const stream of [true, false]) {
    await call(`${address}/v1/chat/completions`, { model, stream, messages: hello });
    await call(`${address}/v1/messages`, { model, stream, max_tokens: 256, messages: hello });
    await call(`${address}/v1/responses`, { model, stream, input: 'Hello', store: true });
  }
  // Channels and prices. Its models are not called.
  command('catalog', 'apply', 'examples/ollama.yaml');
}

async function call(url, body) {
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${url} returned ${response.status}: ${text}`);
}
