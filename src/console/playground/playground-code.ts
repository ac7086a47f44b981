import type { JsonObject } from '../../platform/shared/index.js';
import { block, type ClientTab, curlCommand, jsonText, KEY_VARIABLE, literal } from '../web/index.js';

interface SdkCall {
  readonly path: string;
  readonly method: string;
  /** Where an SDK's result has its text. */
  readonly text: string;
  readonly isAnthropic?: boolean;
}

const CALLS: Readonly<Record<string, SdkCall>> = {
  responses: { path: '/v1/responses', method: 'responses.create', text: 'output_text' },
  'chat-completions': {
    path: '/v1/chat/completions',
    method: 'chat.completions.create',
    text: 'choices[0].message.content',
  },
  messages: { path: '/v1/messages', method: 'messages.create', text: 'content[0].text', isAnthropic: true },
};

/** The request as code. @param baseUrl public URL, without /v1 */
export function requestCode(protocol: string, body: JsonObject, baseUrl: string): readonly ClientTab[] {
  const call = CALLS[protocol];
  if (call === undefined) return [];
  const curl = curlCommand(baseUrl + call.path, { body: jsonText(body) });
  return [
    { label: 'curl', blocks: [block('curl', 'shell', curl)] },
    { label: 'Python', blocks: [block('Python', 'python', python(call, body, baseUrl))] },
    { label: 'JavaScript', blocks: [block('JavaScript', 'javascript', javaScript(call, body, baseUrl))] },
  ];
}

/** Where they differ from those of JSON. */
const PYTHON_LITERALS: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };

function python({ method, text, isAnthropic = false }: SdkCall, body: JsonObject, baseUrl: string): string {
  const [module, sdk, address, option] = isAnthropic
    ? ['anthropic', 'Anthropic', baseUrl, 'auth_token']
    : ['openai', 'OpenAI', `${baseUrl}/v1`, 'api_key'];
  const scalar = (value: unknown): string =>
    typeof value === 'string' ? literal(value) : (PYTHON_LITERALS[String(value)] ?? JSON.stringify(value));
  const values = Object.entries(body).map(([name, value]) => `    ${name}=${jsonText(value, '    ', scalar)},`);
  return `import os
from ${module} import ${sdk}

client = ${sdk}(
    base_url=${literal(address)},
    ${option}=os.environ["${KEY_VARIABLE}"],
)
response = client.${method}(
${values.join('\n')}
)
print(response.${text})`;
}

function javaScript({ method, text, isAnthropic = false }: SdkCall, body: JsonObject, baseUrl: string): string {
  const [sdk, module, address, key] = isAnthropic
    ? ['Anthropic', '@anthropic-ai/sdk', baseUrl, `authToken: process.env.${KEY_VARIABLE},\n  apiKey: null`]
    : ['OpenAI', 'openai', `${baseUrl}/v1`, `apiKey: process.env.${KEY_VARIABLE}`];
  return `import ${sdk} from '${module}';

const client = new ${sdk}({
  baseURL: ${literal(address)},
  ${key},
});
const response = await client.${method}(${jsonText(body)});
console.log(response.${text});`;
}
