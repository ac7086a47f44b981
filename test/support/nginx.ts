import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from './debian-programs.js';
import { eventually } from './eventually.js';
import { freePort } from './ports.js';

const EXAMPLES = join(import.meta.dirname, '../../deploy');
/** What nginx keeps in files of its own. */
const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/** The lines for nginx as people are told to use them. */
export const documentedLines = (): string => readFileSync(join(EXAMPLES, 'nginx.conf'), 'utf8');

/** The same for several hosts, as `deploy/several-hosts` has it. @param hosts where they are, with their ports */
export function severalHostsLines(hosts: readonly string[]): string {
  const upstream = hosts.reduce(
    (text, host, index) => text.replace(`relay-${index + 1}.internal:3000`, host),
    readFileSync(join(EXAMPLES, 'several-hosts/upstream.conf'), 'utf8'),
  );
  if (upstream.includes('.internal:')) throw new Error(`upstream.conf has more hosts than ${hosts.join()}.`);
  return documentedLines()
    .replace(/^upstream [^]*?^\}$/m, upstream)
    .replaceAll(/^\s*(?:proxy_request_buffering off|client_max_body_size 0);\n/gm, '');
}

/** A real nginx before a relay, with the lines of the documentation, but for ports and certificates. */
export class Nginx {
  private constructor(
    private readonly process: ChildProcess,
    private readonly folder: string,
    /** `http://127.0.0.1:PORT` */
    readonly url: string,
  ) {}

  /** @param relayUrl where Switchboard is, with its port */
  static async start(relayUrl: string, lines = documentedLines()): Promise<Nginx> {
    const port = await freePort();
    const folder = mkdtempSync(join(tmpdir(), 'switchboard-nginx-'));
    const server = lines
      .replace('server 127.0.0.1:3000;', `server ${new URL(relayUrl).host};`)
      .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
      .replaceAll(/^\s*ssl_certificate.*\n/gm, '');
    const file = join(folder, 'nginx.conf');
    writeFileSync(file, wholeFile(folder, server));
    for (const name of TEMPORARY) mkdirSync(join(folder, name));
    const process = spawn(findProgram('nginx'), ['-p', folder, '-c', file, '-e', join(folder, 'error.log')], {
      stdio: 'ignore',
    });
    const nginx = new Nginx(process, folder, `http://127.0.0.1:${port}`);
    await eventually(async () => void (await fetch(`${nginx.url}/metrics`)), 20_000);
    return nginx;
  }

  /** What it complained of. */
  get complaints(): string {
    return readFileSync(join(this.folder, 'error.log'), 'utf8');
  }

  async close(): Promise<void> {
    const ended = once(this.process, 'exit');
    this.process.kill('SIGTERM');
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const wholeFile = (folder: string, server: string): string => `
daemon off;
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 2048; }
http {
  access_log off;
  ${TEMPORARY.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  ${server}
}
`;
