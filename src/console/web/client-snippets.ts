import type { ProtocolId } from '../../protocols/contract/index.js';
import {
  block,
  type ClientTab,
  KEY_VARIABLE,
  literal,
  type ProtocolSet,
  type SnippetModel,
  sampleCall,
  shellWord,
} from './client-tab.js';

/**
 * Setup of each client, with a model that natively supports one of the client's protocols if possible.
 * The key is read from an environment variable, so that snippets contain no secret.
 * @param baseUrl public URL, without /v1
 * @param models in order of preference
 */
export function clientSnippets(baseUrl: string, models: readonly SnippetModel[]): readonly ClientTab[] {
  return CLIENTS.map(({ label, protocols, setUp }) => {
    const model = modelIn(models, protocols);
    if (model === undefined) return { label, blocks: [], note: `No available model supports ${label} yet.` };
    return { label, ...setUp(model, baseUrl) };
  });
}

interface ClientModel {
  readonly name: string;
  readonly protocol: ProtocolId;
}

/** The first model that natively supports a protocol, by preference of protocols; otherwise one that is translated. */
function modelIn(models: readonly SnippetModel[], protocols: ProtocolSet): ClientModel | undefined {
  for (const protocol of protocols) {
    const native = models.find((model) => model.protocols.includes(protocol));
    if (native !== undefined) return { name: native.name, protocol };
  }
  const any = models.find(({ translates }) => translates);
  return any && { name: any.name, protocol: protocols[0] };
}

type ClientSetup = Omit<ClientTab, 'label'>;

interface Client {
  readonly label: string;
  /** In order of preference. */
  readonly protocols: ProtocolSet;
  readonly setUp: (model: ClientModel, baseUrl: string) => ClientSetup;
}

const CLIENTS: readonly Client[] = [
  { label: 'curl', protocols: ['responses', 'chat-completions', 'messages', 'gemini'], setUp: curl },
  { label: 'Python', protocols: ['responses', 'chat-completions'], setUp: python },
  { label: 'JavaScript', protocols: ['responses', 'chat-completions'], setUp: javaScript },
  { label: 'Anthropic SDK', protocols: ['messages'], setUp: anthropicSdk },
  { label: 'Google Gen AI SDK', protocols: ['gemini'], setUp: googleSdk },
  { label: 'Claude Code', protocols: ['messages'], setUp: claudeCode },
  { label: 'Codex', protocols: ['responses'], setUp: codex },
  { label: 'Gemini CLI', protocols: ['gemini'], setUp: geminiCli },
  { label: 'opencode', protocols: ['chat-completions', 'messages', 'responses'], setUp: opencode },
  { label: 'Cursor', protocols: ['chat-completions'], setUp: cursor },
];

function curl({ name, protocol }: ClientModel, baseUrl: string): ClientSetup {
  return { blocks: [block('curl', 'shell', sampleCall(protocol, name, baseUrl) ?? '')] };
}

function python(model: ClientModel, baseUrl: string): ClientSetup {
  const name = literal(model.name);
  const code = `import os
from openai import OpenAI

client = OpenAI(
    base_url=${literal(`${baseUrl}/v1`)},
    api_key=os.environ["${KEY_VARIABLE}"],
)
${
  model.protocol === 'responses'
    ? `reply = client.responses.create(model=${name}, input="Say hello")
print(reply.output_text)`
    : `reply = client.chat.completions.create(
    model=${name}, messages=[{"role": "user", "content": "Say hello"}])
print(reply.choices[0].message.content)`
}`;
  return { blocks: [block('Python', 'python', code)], note: 'Install the SDK: pip install openai' };
}

function javaScript(model: ClientModel, baseUrl: string): ClientSetup {
  const name = literal(model.name);
  const code = `import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: ${literal(`${baseUrl}/v1`)},
  apiKey: process.env.${KEY_VARIABLE},
});
${
  model.protocol === 'responses'
    ? `const reply = await client.responses.create({ model: ${name}, input: 'Say hello' });
console.log(reply.output_text);`
    : `const messages = [{ role: 'user', content: 'Say hello' }];
const reply = await client.chat.completions.create({ model: ${name}, messages });
console.log(reply.choices[0].message.content);`
}`;
  return {
    blocks: [block('JavaScript', 'javascript', code)],
    note: 'Install the SDK: npm install openai',
  };
}

function codex(model: ClientModel, baseUrl: string): ClientSetup {
  const settings = `model = ${literal(model.name)}
model_provider = "switchboard"

[model_providers.switchboard]
name = "Switchboard"
base_url = ${literal(`${baseUrl}/v1`)}
env_key = "${KEY_VARIABLE}"
wire_api = "responses"`;
  return {
    blocks: [
      block('Codex settings', 'toml', settings, '~/.codex/config.toml'),
      block('Codex', 'shell', 'codex "Say hello"'),
    ],
  };
}

const OPENCODE_PACKAGES: Readonly<Record<string, string>> = {
  'chat-completions': '@ai-sdk/openai-compatible',
  messages: '@ai-sdk/anthropic',
  responses: '@ai-sdk/openai',
};

function opencode(model: ClientModel, baseUrl: string): ClientSetup {
  const settings = {
    $schema: 'https://opencode.ai/config.json',
    provider: {
      switchboard: {
        npm: OPENCODE_PACKAGES[model.protocol],
        name: 'Switchboard',
        options: { baseURL: `${baseUrl}/v1`, apiKey: `{env:${KEY_VARIABLE}}` },
        models: { [model.name]: { name: model.name } },
      },
    },
  };
  return {
    blocks: [
      block('opencode settings', 'javascript', JSON.stringify(settings, null, 2), 'opencode.json'),
      block('opencode', 'shell', `opencode run -m ${shellWord(`switchboard/${model.name}`)} "Say hello"`),
    ],
  };
}

function cursor(model: ClientModel, baseUrl: string): ClientSetup {
  return {
    blocks: [],
    steps: [
      { text: 'Open Settings, then Models, and paste your key under OpenAI API Key.' },
      { text: 'Turn on Override OpenAI Base URL and enter', code: `${baseUrl}/v1` },
      { text: 'Add the model:', code: model.name },
    ],
    note: isPrivate(baseUrl)
      ? 'Cursor sends requests from its own servers and cannot reach this private address. Use a public URL.'
      : 'Cursor sends requests from its own servers, so this address must be reachable from the internet.',
  };
}

const isPrivate = (baseUrl: string): boolean =>
  /^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[|.*\.(local|internal|lan)$)/.test(
    new URL(baseUrl).hostname,
  );

function anthropicSdk(model: ClientModel, baseUrl: string): ClientSetup {
  const name = literal(model.name);
  const inPython = `import os
from anthropic import Anthropic

client = Anthropic(
    base_url=${literal(baseUrl)},  # no /v1
    auth_token=os.environ["${KEY_VARIABLE}"],
)
reply = client.messages.create(model=${name}, max_tokens=200,
    messages=[{"role": "user", "content": "Say hello"}])
print(reply.content[0].text)`;
  const inJavaScript = `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({
  baseURL: ${literal(baseUrl)}, // no /v1
  authToken: process.env.${KEY_VARIABLE},
  apiKey: null,
});
const messages = [{ role: 'user', content: 'Say hello' }];
const reply = await client.messages.create({ model: ${name}, max_tokens: 200, messages });
console.log(reply.content[0].text);`;
  return {
    blocks: [
      block('Anthropic SDK, Python', 'python', inPython),
      block('Anthropic SDK, JavaScript', 'javascript', inJavaScript),
    ],
  };
}

function claudeCode(model: ClientModel, baseUrl: string): ClientSetup {
  const code = `export ANTHROPIC_BASE_URL=${literal(baseUrl)}
export ANTHROPIC_AUTH_TOKEN="$${KEY_VARIABLE}"
unset ANTHROPIC_API_KEY
export ANTHROPIC_DEFAULT_HAIKU_MODEL=${shellWord(model.name)}  # for its side jobs
claude --model ${shellWord(model.name)}`;
  return { blocks: [block('Claude Code', 'shell', code)] };
}

function googleSdk(model: ClientModel, baseUrl: string): ClientSetup {
  const name = literal(model.name);
  const inPython = `import os
from google import genai

client = genai.Client(
    api_key=os.environ["${KEY_VARIABLE}"],
    http_options={"base_url": ${literal(baseUrl)}},
)
reply = client.models.generate_content(model=${name}, contents="Say hello")
print(reply.text)`;
  const inJavaScript = `import { GoogleGenAI } from '@google/genai';

const client = new GoogleGenAI({
  apiKey: process.env.${KEY_VARIABLE},
  httpOptions: { baseUrl: ${literal(baseUrl)} },
});
const reply = await client.models.generateContent({ model: ${name}, contents: 'Say hello' });
console.log(reply.text);`;
  return {
    blocks: [
      block('Google Gen AI SDK, Python', 'python', inPython),
      block('Google Gen AI SDK, JavaScript', 'javascript', inJavaScript),
    ],
    note: 'Install the SDK: pip install google-genai, or npm install @google/genai',
  };
}

function geminiCli(model: ClientModel, baseUrl: string): ClientSetup {
  const code = `export GOOGLE_GEMINI_BASE_URL=${literal(baseUrl)}
export GEMINI_API_KEY="$${KEY_VARIABLE}"
gemini -m ${shellWord(model.name)} -p "Say hello"`;
  const settings = {
    // Otherwise a base URL alone selects a way to authenticate that its command line rejects.
    security: { auth: { selectedType: 'gemini-api-key' } },
    // Otherwise long conversations end with an error if its vendor's default model does not exist here.
    modelConfigs: { customAliases: { 'chat-compression-default': { modelConfig: { model: model.name } } } },
  };
  return {
    blocks: [
      block('Gemini CLI settings', 'javascript', JSON.stringify(settings, null, 2), '~/.gemini/settings.json'),
      block('Gemini CLI', 'shell', code),
    ],
  };
}
