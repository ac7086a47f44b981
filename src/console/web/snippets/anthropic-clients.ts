import { block, type ClientTab, type Told, unusable } from './client-tab.js';
import { KEY_VARIABLE, literal, shellWord } from './names.js';

// Clients that take our bare address, and add /v1 themselves.

export function anthropicSdk({ baseUrl, modelIn }: Told): ClientTab {
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

export function claudeCode({ baseUrl, modelIn }: Told): ClientTab {
  const model = modelIn('messages');
  if (model === undefined) return unusable('Claude Code');
  const code = `export ANTHROPIC_BASE_URL=${literal(baseUrl)}
export ANTHROPIC_AUTH_TOKEN="$${KEY_VARIABLE}"
unset ANTHROPIC_API_KEY
export ANTHROPIC_DEFAULT_HAIKU_MODEL=${shellWord(model.name)}  # for its side jobs
claude --model ${shellWord(model.name)}`;
  return { label: 'Claude Code', blocks: [block('Claude Code', 'shell', code)] };
}
