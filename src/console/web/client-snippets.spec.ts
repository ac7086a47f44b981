import { highlighted, sampleCall } from './client-tab.js';
import { clientSnippets, type ClientTab } from './index.js';
import { AssetStore } from './rendering/asset-store.js';
import { ViewEngine } from './rendering/view-engine.js';

const BASE = 'https://relay.example.com';
const EVERY = [{ name: 'm', protocols: ['chat-completions', 'messages', 'responses'], translates: true }];

const codeOf = ({ blocks }: ClientTab): string =>
  blocks.map(({ code: pieces }) => pieces.map(({ text }) => text).join('')).join('\n');
const tab = (label: string, models = EVERY, base = BASE): ClientTab =>
  clientSnippets(base, models).find((one) => one.label === label)!;
const code = (label: string, models = EVERY): string => codeOf(tab(label, models));

describe('clientSnippets', () => {
  it('covers all clients in a fixed order', () => {
    expect(clientSnippets(BASE, EVERY).map(({ label }) => label)).toEqual([
      'curl',
      'Python',
      'JavaScript',
      'Anthropic SDK',
      'Google Gen AI SDK',
      'Claude Code',
      'Codex',
      'Gemini CLI',
      'opencode',
      'Cursor',
    ]);
  });

  it('includes /v1 in the base URL for OpenAI clients but not for Anthropic and Google clients', () => {
    for (const label of ['Python', 'JavaScript', 'Codex', 'opencode']) expect(code(label)).toContain(`"${BASE}/v1"`);
    expect(tab('Cursor').steps).toContainEqual(expect.objectContaining({ code: `${BASE}/v1` }));
    for (const label of ['Anthropic SDK', 'Claude Code', 'Google Gen AI SDK', 'Gemini CLI']) {
      expect(code(label)).toContain(`"${BASE}"`);
      expect(code(label)).not.toContain('/v1"');
    }
  });

  it('reads the key from an environment variable', () => {
    for (const one of clientSnippets(BASE, EVERY)) {
      if (one.blocks.length > 0) expect(codeOf(one)).toContain('SWITCHBOARD_API_KEY');
      expect(codeOf(one)).not.toMatch(/sk-/);
    }
  });

  it('sets the token and unsets other keys for Claude Code, and selects Responses for Codex', () => {
    expect(code('Claude Code')).toContain(
      'export ANTHROPIC_AUTH_TOKEN="$SWITCHBOARD_API_KEY"\nunset ANTHROPIC_API_KEY',
    );
    expect(code('Codex')).toContain('wire_api = "responses"');
    expect(code('Codex')).toContain('model_provider = "switchboard"\n\n[model_providers.switchboard]');
  });

  it('selects a model that natively supports the protocol of the client', () => {
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

  it('selects the SDK package of opencode by protocol', () => {
    for (const [protocol, npm] of [
      ['messages', '@ai-sdk/anthropic'],
      ['responses', '@ai-sdk/openai'],
    ] as const)
      expect(code('opencode', [{ name: 'm', protocols: [protocol], translates: true }])).toContain(`"npm": "${npm}"`);
  });

  it('sets the background model of Claude Code', () => {
    expect(code('Claude Code')).toContain('export ANTHROPIC_DEFAULT_HAIKU_MODEL=m ');
  });

  it('sets the model with which Gemini CLI compresses conversations', () => {
    const [settings] = code('Gemini CLI').split('\nexport');
    const { modelConfigs } = JSON.parse(settings!) as Record<string, unknown>;
    expect(modelConfigs).toEqual({
      customAliases: { 'chat-compression-default': { modelConfig: { model: 'm' } } },
    });
  });

  it('uses Chat Completions when no upstream supports Responses', () => {
    const models = [{ name: 'chat', protocols: ['chat-completions'], translates: true }];
    expect(code('curl', models)).toContain('/v1/chat/completions');
    expect(code('Python', models)).toContain('client.chat.completions.create');
    expect(code('JavaScript', models)).toContain('client.chat.completions.create');
  });

  it('selects the first model when no model natively supports the protocol', () => {
    const models = [
      { name: 'claude', protocols: ['messages'], translates: true },
      { name: 'other', protocols: ['messages'], translates: true },
    ];
    expect(code('Codex', models)).toContain('model = "claude"');
    expect(code('Python', models)).toContain('client.responses.create(model="claude"');
    expect(tab('Cursor', models).steps).toContainEqual(expect.objectContaining({ code: 'claude' }));
    expect(code('curl', models)).toContain('/v1/messages');
  });

  it('shows a note when no model supports a client', () => {
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

  it('warns that Cursor cannot reach a private address', () => {
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

  it('escapes special characters in model names', () => {
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

  it('is undefined for other protocols', () => {
    expect(sampleCall('other', 'm', BASE)).toBeUndefined();
  });
});

describe('highlighted code', () => {
  it('marks strings, keywords and comments without changing the code', () => {
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

describe('client tabs', () => {
  it('show the code with HTML characters escaped', () => {
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
