import { execFile, type ExecFileException } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { requestCode } from '../../src/console/playground/playground-code.js';
import { PlaygroundForm } from '../../src/console/playground/playground-form.js';
import {
  clientSnippets,
  type ClientTab,
  Form,
  KEY_VARIABLE,
  type SnippetModel,
  STORE_KEY,
} from '../../src/console/web/index.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';

const NODE_MODULES = resolve(import.meta.dirname, '../../node_modules');
const EVERY: readonly SnippetModel[] = [
  { name: 'm', protocols: ['chat-completions', 'messages', 'responses'], translates: false },
];
const CHAT: readonly SnippetModel[] = [{ name: 'only-chat', protocols: ['chat-completions'], translates: false }];
const GEMINI: readonly SnippetModel[] = [{ name: 'translated', protocols: ['gemini'], translates: true }];
const MESSAGES: readonly SnippetModel[] = [{ name: 'm', protocols: ['messages'], translates: false }];

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** 127, as shells have it, for a program that is not there. */
function exitCode(error: ExecFileException | null): number {
  if (error === null) return 0;
  if (error.code === 'ENOENT') return 127;
  return typeof error.code === 'number' ? error.code : 1;
}

/** Whatever the snippets say is done, word for word, by the programs that they are for. */
describe('snippets for clients, when they are run', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  let folder: string;

  beforeAll(async () => {
    relay = await RelayApp.start();
    await relay.applyCatalog(`
models:
  - { name: translated, context_window: 200000, max_output_tokens: 64000, prices: free }
channels:
  - { name: translated, protocol: messages, base_url: "${relay.upstream.url}", credentials: [x], models: [translated] }
`);
    caller = await relay.caller();
    folder = mkdtempSync(join(tmpdir(), 'snippets-'));
    symlinkSync(NODE_MODULES, join(folder, 'node_modules'));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await relay.close();
  });

  const run = (program: string, parameters: readonly string[], stdin = ''): Promise<Outcome> =>
    new Promise((done) => {
      const environment = { PATH: process.env['PATH'] ?? '', HOME: folder, [KEY_VARIABLE]: caller.key };
      const options = { cwd: folder, env: environment, timeout: 20_000 };
      const child = execFile(program, [...parameters], options, (error: ExecFileException | null, stdout, stderr) =>
        done({ code: exitCode(error), stdout, stderr }),
      );
      // A program that asks for nothing may be gone before its input has come.
      child.stdin?.on('error', () => undefined).end(stdin);
    });
  const tab = (label: string, models: readonly SnippetModel[]): ClientTab => {
    const found = clientSnippets(relay.url, models).find((one) => one.label === label);
    if (found === undefined) throw new Error(`There is no snippet for ${label}.`);
    return found;
  };
  const code = (label: string, models: readonly SnippetModel[], block = 0): string =>
    (tab(label, models).blocks[block]?.code ?? []).map(({ text }) => text).join('');
  const inFile = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  /** What the scripted upstream answers. */
  const expectResponse = ({ code: exit, stdout, stderr }: Outcome): void => {
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: expect.any(String) });
    expect(stdout.trim()).not.toBe('');
    expect(stdout.trim()).not.toBe('undefined');
  };
  const succeeded = async (): Promise<number> =>
    (await relay.calls(caller)).filter(({ status }) => status === 'succeeded').length;

  it.each([
    ['Responses', EVERY],
    ['Chat Completions', CHAT],
    ['Messages', MESSAGES],
    ['Gemini', GEMINI],
  ])('curl gets a response in %s', async (_protocol, models) => {
    const before = await succeeded();
    const outcome = await run('bash', [inFile('curl.sh', code('curl', models))]);
    expectResponse(outcome);
    await expect(succeeded()).resolves.toBe(before + 1);
  });

  it.each([
    ['Responses', EVERY],
    ['Chat Completions', CHAT],
  ])('JavaScript prints a response in %s', async (_protocol, models) => {
    expectResponse(await run(process.execPath, [inFile('openai.mjs', code('JavaScript', models))]));
  });

  it('JavaScript prints a response through Anthropic’s SDK', async () => {
    expectResponse(await run(process.execPath, [inFile('anthropic.mjs', code('Anthropic SDK', EVERY, 1))]));
  });

  it('JavaScript prints a response through Google’s SDK', async () => {
    expectResponse(await run(process.execPath, [inFile('google.mjs', code('Google Gen AI SDK', GEMINI, 1))]));
  });

  it.each(['responses', 'chat-completions', 'messages', 'gemini'])(
    'the code of the playground gets a response in %s',
    async (protocol) => {
      const form = Form.read(PlaygroundForm, {
        key: 'key',
        model: protocol === 'gemini' ? 'translated' : 'm',
        protocol,
        message: `It's "so"`,
        schema: '{"a": true}',
      });
      const [curl, python, javaScript] = requestCode(form.value!, relay.url).map(({ blocks }) =>
        (blocks[0]?.code ?? []).map(({ text }) => text).join(''),
      );
      expectResponse(await run('bash', [inFile('curl.sh', curl ?? '')]));
      expectResponse(await run(process.execPath, [inFile('playground.mjs', javaScript ?? '')]));
      const compiled = await run('python3', ['-m', 'py_compile', inFile('playground.py', python ?? '')]);
      // 127: there is no Python on this machine.
      expect([0, 127]).toContain(compiled.code);
    },
  );

  it('Python is valid, and prints a response where its packages are installed', async () => {
    for (const [module, text] of [
      ['openai', code('Python', EVERY)],
      ['openai', code('Python', CHAT)],
      ['anthropic', code('Anthropic SDK', EVERY)],
    ] as const) {
      const file = inFile('snippet.py', text);
      const compiled = await run('python3', ['-m', 'py_compile', file]);
      // There is no Python on this machine.
      if (compiled.code === 127) return;
      expect(compiled).toMatchObject({ code: 0 });
      const installed = await run('python3', ['-c', `import ${module}`]);
      if (installed.code === 0) expectResponse(await run('python3', [file]));
    }
  });

  it('the shell keeps the key for the programs that it starts, and shows it nowhere', async () => {
    const script = inFile('store.sh', `${STORE_KEY}\nbash -c 'test "$${KEY_VARIABLE}" = pasted && echo kept'`);
    await expect(run('bash', [script], 'pasted\n')).resolves.toEqual({ code: 0, stdout: 'kept\n', stderr: '' });
  });

  it('Claude Code is started with the address, the token and the model, and without another key', async () => {
    const text = `claude() { echo "$ANTHROPIC_BASE_URL $ANTHROPIC_AUTH_TOKEN \${ANTHROPIC_API_KEY-none} $*"; }
export ANTHROPIC_API_KEY=other
${code('Claude Code', EVERY)}`;
    const { stdout } = await run('bash', [inFile('claude.sh', text)]);
    expect(stdout).toBe(`${relay.url} ${caller.key} none --model m\n`);
  });
});
