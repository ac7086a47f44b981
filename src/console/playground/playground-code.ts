import type { JsonObject } from '../../platform/shared/index.js';
import { block, type ClientTab, curlCommand, jsonText, KEY_VARIABLE, literal } from '../web/index.js';
import { addressOf, bodyOf, type PlaygroundForm } from './playground-form.js';

/** An SDK in both languages, and how it makes the request. */
interface Sdk {
  /** Its import and the construction of `client`. */
  readonly python: (baseUrl: string) => string;
  readonly javaScript: (baseUrl: string) => string;
  /** Where the result has its text. */
  readonly text: string;
  readonly pythonMethod: string;
  readonly javaScriptMethod: string;
  /** Parameters of the method; absent: the members of the body. */
  readonly parameters?: (body: JsonObject, model: string) => JsonObject;
}

const openAi = (method: string, text: string): Sdk => ({
  python: (baseUrl) => `from openai import OpenAI

client = OpenAI(
    base_url=${literal(`${baseUrl}/v1`)},
    api_key=os.environ["${KEY_VARIABLE}"],
)`,
  javaScript: (baseUrl) => `import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: ${literal(`${baseUrl}/v1`)},
  apiKey: process.env.${KEY_VARIABLE},
});`,
  text,
  pythonMethod: method,
  javaScriptMethod: method,
});

const ANTHROPIC: Sdk = {
  python: (baseUrl) => `from anthropic import Anthropic

client = Anthropic(
    base_url=${literal(baseUrl)},
    auth_token=os.environ["${KEY_VARIABLE}"],
)`,
  javaScript: (baseUrl) => `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({
  baseURL: ${literal(baseUrl)},
  authToken: process.env.${KEY_VARIABLE},
  apiKey: null,
});`,
  text: 'content[0].text',
  pythonMethod: 'messages.create',
  javaScriptMethod: 'messages.create',
};

const GOOGLE: Sdk = {
  python: (baseUrl) => `from google import genai

client = genai.Client(
    api_key=os.environ["${KEY_VARIABLE}"],
    http_options={"base_url": ${literal(baseUrl)}},
)`,
  javaScript: (baseUrl) => `import { GoogleGenAI } from '@google/genai';

const client = new GoogleGenAI({
  apiKey: process.env.${KEY_VARIABLE},
  httpOptions: { baseUrl: ${literal(baseUrl)} },
});`,
  text: 'text',
  pythonMethod: 'models.generate_content',
  javaScriptMethod: 'models.generateContent',
  parameters: ({ contents, generationConfig, ...others }, model) => ({
    model,
    contents,
    config: { ...others, ...(generationConfig as JsonObject) },
  }),
};

const SDKS: Readonly<Record<string, Sdk>> = {
  responses: openAi('responses.create', 'output_text'),
  'chat-completions': openAi('chat.completions.create', 'choices[0].message.content'),
  messages: ANTHROPIC,
  gemini: GOOGLE,
};

/** The request of a valid form as code. @param baseUrl public URL, without /v1 */
export function requestCode(form: PlaygroundForm, baseUrl: string): readonly ClientTab[] {
  const sdk = SDKS[form.protocol];
  if (sdk === undefined) return [];
  const body = bodyOf(form);
  const parameters = sdk.parameters?.(body, form.model) ?? body;
  const curl = curlCommand(baseUrl + addressOf(form, false).path, { body: jsonText(body) });
  return [
    { label: 'curl', blocks: [block('curl', 'shell', curl)] },
    { label: 'Python', blocks: [block('Python', 'python', python(sdk, parameters, baseUrl))] },
    { label: 'JavaScript', blocks: [block('JavaScript', 'javascript', javaScript(sdk, parameters, baseUrl))] },
  ];
}

/** Where they differ from those of JSON. */
const PYTHON_LITERALS: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };

function python({ python: client, pythonMethod, text }: Sdk, parameters: JsonObject, baseUrl: string): string {
  const scalar = (value: unknown): string =>
    typeof value === 'string' ? literal(value) : (PYTHON_LITERALS[String(value)] ?? JSON.stringify(value));
  const values = Object.entries(parameters).map(([name, value]) => `    ${name}=${jsonText(value, '    ', scalar)},`);
  return `import os
${client(baseUrl)}
response = client.${pythonMethod}(
${values.join('\n')}
)
print(response.${text})`;
}

const javaScript = (
  { javaScript: client, javaScriptMethod, text }: Sdk,
  parameters: JsonObject,
  baseUrl: string,
): string => `${client(baseUrl)}
const response = await client.${javaScriptMethod}(${jsonText(parameters)});
console.log(response.${text});`;
