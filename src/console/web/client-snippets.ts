import {
  block,
  type ClientTab,
  KEY_VARIABLE,
  literal,
  type Reachable,
  sampleCall,
  shellWord,
  type SnippetContext,
  unusable,
} from './client-tab.js';

/**
 * Setup of each client, with a model that natively supports the client's protocol if possible.
 * The key is read from an environment variable, so that snippets contain no secret.
 * @param baseUrl public URL, without /v1
 * @param models in order of preference
 */
export function clientSnippets(baseUrl: string, models: readonly Reachable[]): readonly ClientTab[] {
  const context: SnippetContext = {
    baseUrl,
    modelIn: (...protocols) => {
      for (const protocol of protocols) {
        const model = models.find((one) => one.protocols.includes(protocol));
        if (model !== undefined) return { name: model.name, protocol };
      }
      const any = models.find(({ translates }) => translates);
      return any && { name: any.name, protocol: protocols[0] };
    },
  };
  return [curl, python, javaScript, anthropicSdk, claudeCode, codex, opencode, cursor].map((client) => client(context));
}

// Clients that expect /v1 in the base URL.
const OPENAI = ['responses', 'chat-completions'] as const;

function curl({ baseUrl, modelIn }: SnippetContext): ClientTab {
  const model = modelIn(...OPENAI, 'messages');
  const code = model && sampleCall(model.protocol, model.name, baseUrl);
  if (code === undefined) return unusable('curl');
  return { label: 'curl', blocks: [block('curl', 'shell', code)] };
}

function python({ baseUrl, modelIn }: SnippetContext): ClientTab {
  const model = modelIn(...OPENAI);
  if (model === undefined) return unusable('Python');
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
  return { label: 'Python', blocks: [block('Python', 'python', code)], note: 'Install the SDK: pip install openai' };
}

function javaScript({ baseUrl, modelIn }: SnippetContext): ClientTab {
  const model = modelIn(...OPENAI);
  if (model === undefined) return unusable('JavaScript');
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
    label: 'JavaScript',
    blocks: [block('JavaScript', 'javascript', code)],
    note: 'Install the SDK: npm install openai',
  };
}

function codex({ baseUrl, modelIn }: SnippetContext): ClientTab {
  const model = modelIn('responses');
  if (model === undefined) return unusable('Codex');
  const settings = `model = ${literal(model.name)}
model_provider = "switchboard"

[model_providers.switchboard]
name = "Switchboard"
base_url = ${literal(`${baseUrl}/v1`)}
env_key = "${KEY_VARIABLE}"
wire_api = "responses"`;
  return {
    label: 'Codex',
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

function opencode({ baseUrl, modelIn }: SnippetContext): ClientTab {
  const model = modelIn('chat-completions', 'messages', 'responses');
  if (model === undefined) return unusable('opencode');
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
    label: 'opencode',
    blocks: [
      block('opencode settings', 'javascript', JSON.stringify(settings, null, 2), 'opencode.json'),
      block('opencode', 'shell', `opencode run -m ${shellWord(`switchboard/${model.name}`)} "Say hello"`),
    ],
  };
}

function cursor({ baseUrl, modelIn }: SnippetContext): ClientTab {
  const model = modelIn('chat-completions');
  if (model === undefined) return unusable('Cursor');
  return {
    label: 'Cursor',
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

// Clients that append /v1 themselves.

function anthropicSdk({ baseUrl, modelIn }: SnippetContext): ClientTab {
  const model = modelIn('messages');
  if (model === undefined) return unusable('Anthropic SDK');
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
    label: 'Anthropic SDK',
    blocks: [
      block('Anthropic SDK, Python', 'python', inPython),
      block('Anthropic SDK, JavaScript', 'javascript', inJavaScript),
    ],
  };
}

function claudeCode({ baseUrl, modelIn }: SnippetContext): ClientTab {
  const model = modelIn('messages');
  if (model === undefined) return unusable('Claude Code');
  const code = `export ANTHROPIC_BASE_URL=${literal(baseUrl)}
export ANTHROPIC_AUTH_TOKEN="$${KEY_VARIABLE}"
unset ANTHROPIC_API_KEY
export ANTHROPIC_DEFAULT_HAIKU_MODEL=${shellWord(model.name)}  # for its side jobs
claude --model ${shellWord(model.name)}`;
  return { label: 'Claude Code', blocks: [block('Claude Code', 'shell', code)] };
}
