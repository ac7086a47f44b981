import { AssetStore } from './rendering/asset-store.js';
import { ViewEngine } from './rendering/view-engine.js';
import { clientSnippets, type ClientTab } from './index.js';
import { highlighted, sampleCall } from './client-tab.js';

const BASE = 'https://relay.example.com';
const EVERY = [{ name: 'm', protocols: ['chat-completions', 'messages', 'responses'], translates: true }];

const codeOf = ({ blocks }: ClientTab): string =>
  blocks.map(({ code: pieces }) => pieces.map(({ text }) => text).join('')).join('\n');
const tab = (label: string, models = EVERY, base = BASE): ClientTab =>
  clientSnippets(base, models).find((one) => one.label === label)!;
const code = (label: string, models = EVERY): string => codeOf(tab(label, models));

describe('snippets for clients', () => {
  it('are there for every client, in one order', () => {
    expect(clientSnippets(BASE, EVERY).map(({ label }) => label)).toEqual([
      'curl',
      'Python',
      'JavaScript',
      'Anthropic SDK',
      'Claude Code',
      'Codex',
      'opencode',
      'Cursor',
    ]);
  });

  it('give the address with /v1 to clients of OpenAI and without it to those of Anthropic', () => {
    for (const label of ['Python', 'JavaScript', 'Codex', 'opencode']) expect(code(label)).toContain(`"${BASE}/v1"`);
    expect(tab('Cursor').steps).toContainEqual(expect.objectContaining({ code: `${BASE}/v1` }));
    for (const label of ['Anthropic SDK', 'Claude Code']) {
      expect(code(label)).toContain(`"${BASE}"`);
      expect(code(label)).not.toContain('/v1"');
    }
  });

  it('read the key from a variable and never hold one', () => {
    for (const one of clientSnippets(BASE, EVERY)) {
      if (one.blocks.length > 0) expect(codeOf(one)).toContain('SWITCHBOARD_API_KEY');
      expect(codeOf(one)).not.toMatch(/sk-/);
    }
  });

  it('tell Claude Code to use the token and forget another key, and Codex to speak Responses', () => {
    expect(code('Claude Code')).toContain(
      'export ANTHROPIC_AUTH_TOKEN="$SWITCHBOARD_API_KEY"\nunset ANTHROPIC_API_KEY',
    );
    expect(code('Codex')).toContain('wire_api = "responses"');
    expect(code('Codex')).toContain('model_provider = "switchboard"\n\n[model_providers.switchboard]');
  });

  it('name a model whose upstream speaks the dialect of the client', () => {
    const models = [
      { name: 'chat', protocols: ['chat-completions'], translates: true },
      { name: 'claude', protocols: ['messages'], translates: true },
      { name: 'gpt', protocols: ['responses', 'chat-completions'], translates: true },
    ];
    for (const label of ['curl', 'Python', 'JavaScript', 'Codex']) expect(code(label, models)).toContain('"gpt"');
    for (const label of ['Anthropic SDK', 'Claude Code']) expect(code(label, models)).toContain('claude');
    expect(code('opencode', models)).toContain('"npm": "@ai-sdk/openai-compatible"');
    expect(code('opencode', models)).toContain('opencode run -m switchboard/chat ');
    expect(tab('Cursor', models).steps).toContainEqual(expect.objectContaining({ code: 'chat' }));
  });

  it('give opencode the package that speaks the dialect of the model', () => {
    for (const [protocol, npm] of [
      ['messages', '@ai-sdk/anthropic'],
      ['responses', '@ai-sdk/openai'],
    ] as const)
      expect(code('opencode', [{ name: 'm', protocols: [protocol], translates: true }])).toContain(`"npm": "${npm}"`);
  });

  it('tell Claude Code which model does its side jobs: another name would not be known here', () => {
    expect(code('Claude Code')).toContain('export ANTHROPIC_DEFAULT_HAIKU_MODEL=m ');
  });

  it('use Chat Completions where an upstream speaks it and none speaks Responses', () => {
    const models = [{ name: 'chat', protocols: ['chat-completions'], translates: true }];
    expect(code('curl', models)).toContain('/v1/chat/completions');
    expect(code('Python', models)).toContain('client.chat.completions.create');
    expect(code('JavaScript', models)).toContain('client.chat.completions.create');
  });

  it('name the first model where none speaks the dialect of a client: it is translated', () => {
    const models = [
      { name: 'claude', protocols: ['messages'], translates: true },
      { name: 'other', protocols: ['messages'], translates: true },
    ];
    expect(code('Codex', models)).toContain('model = "claude"');
    expect(code('Python', models)).toContain('client.responses.create(model="claude"');
    expect(tab('Cursor', models).steps).toContainEqual(expect.objectContaining({ code: 'claude' }));
    expect(code('curl', models)).toContain('/v1/messages');
  });

  it('say so where no model answers a client, and are not there', () => {
    const models = [{ name: 'claude', protocols: ['messages'], translates: false }];
    expect(tab('Codex', models)).toEqual({
      label: 'Codex',
      blocks: [],
      note: 'No available model supports Codex yet.',
    });
    expect(code('Claude Code', models)).toContain('claude --model claude');
    for (const one of clientSnippets(BASE, [])) {
      expect(one.blocks).toEqual([]);
      expect(one.note).toBeDefined();
    }
  });

  it('say that Cursor cannot reach an address that is not public', () => {
    expect(tab('Cursor').note).toContain('must be reachable');
    for (const base of [
      'http://127.0.0.1:3000',
      'http://localhost:3000',
      'http://[::1]:3000',
      'http://192.168.1.4',
      'http://relay.lan',
    ])
      expect(tab('Cursor', EVERY, base).note).toContain('cannot reach this private address');
  });

  it('survive names of models with signs that mean something', () => {
    const models = [
      { name: `a'b"c$d\`e\\:1`, protocols: ['responses', 'messages', 'chat-completions'], translates: true },
    ];
    const [, json] = /-d '(.*)'$/s.exec(code('curl', models))!;
    expect(JSON.parse(json!.replaceAll(`'\\''`, "'"))).toEqual({ model: models[0]!.name, input: 'Say hello' });
    expect(code('Claude Code', models)).toContain(`claude --model 'a'\\''b"c$d\`e\\:1'`);
    expect(code('Python', models)).toContain(JSON.stringify(models[0]!.name));
  });
});

describe('a sample call', () => {
  it.each([
    ['responses', '/v1/responses', '{"model": "m", "input": "Say hello"}'],
    [
      'chat-completions',
      '/v1/chat/completions',
      '{"model": "m", "messages": [{"role": "user", "content": "Say hello"}]}',
    ],
    [
      'messages',
      '/v1/messages',
      '{"model": "m", "max_tokens": 200, "messages": [{"role": "user", "content": "Say hello"}]}',
    ],
  ])('in %s asks at its address', (protocol, path, body) => {
    expect(sampleCall(protocol, 'm', BASE)).toBe(
      `curl ${BASE}${path} \\\n  -H "Authorization: Bearer $SWITCHBOARD_API_KEY" \\\n` +
        `  -H "Content-Type: application/json" \\\n  -d '${body}'`,
    );
  });

  it('is not known of other dialects', () => {
    expect(sampleCall('other', 'm', BASE)).toBeUndefined();
  });
});

describe('highlighted code', () => {
  it('is the same code, with its strings, keywords and comments told apart', () => {
    const python = 'import os\nx = "a # b"  # no /v1\nimportant = 1';
    const pieces = highlighted(python, 'python');
    expect(pieces.map(({ text }) => text).join('')).toBe(python);
    expect(pieces.filter(({ kind }) => kind)).toEqual([
      { text: 'import', kind: 'k' },
      { text: '"a # b"', kind: 's' },
      { text: '# no /v1', kind: 'c' },
    ]);
    const shell = `curl 'a "b" c' # x\nexport A="$B#c"`;
    expect(
      highlighted(shell, 'shell')
        .map(({ text }) => text)
        .join(''),
    ).toBe(shell);
    expect(highlighted(shell, 'shell').filter(({ kind }) => kind)).toEqual([
      { text: `'a "b" c'`, kind: 's' },
      { text: '# x', kind: 'c' },
      { text: 'export', kind: 'k' },
      { text: '"$B#c"', kind: 's' },
    ]);
  });
});

describe('the tabs of clients', () => {
  it('show the code as it is, signs of HTML included', () => {
    const tabs = clientSnippets(BASE, [
      { name: '<b>&"', protocols: ['responses', 'messages', 'chat-completions'], translates: true },
    ]);
    const views = new ViewEngine(new AssetStore());
    const html = views.renderBare('client-snippets', { tabs, open: 'Codex', group: 'client' });
    const shown = [...html.matchAll(/<pre[^>]*><code>(.*?)<\/code><\/pre>/gs)].map(([, inside = '']) =>
      inside
        .replaceAll(/<\/?span[^>]*>/g, '')
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&quot;', '"')
        .replaceAll('&#x27;', "'")
        .replaceAll('&#x3D;', '=')
        .replaceAll('&#x60;', '`')
        .replaceAll('&amp;', '&'),
    );
    const blocks = tabs.flatMap((one) => one.blocks.map((block) => block.code.map(({ text }) => text).join('')));
    expect(shown).toEqual(blocks);
    expect(html.match(/<details[^>]* open>/g)).toHaveLength(1);
    expect(html).toMatch(/name="client" open>\s*<summary>Codex<\/summary>/);
  });
});
