/** A provider that "Add models" knows how to connect. A new one is an entry here. */
export interface ProviderPreset {
  readonly id: string;
  readonly label: string;
  /** Also decides how models are listed. */
  readonly protocol: string;
  /** Empty if the administrator must enter it, or the fields of which `urlFrom` builds it. */
  readonly baseUrl: string;
  readonly fields?: readonly ProviderField[];
  /** The base URL. @param values of the fields, by their key; empty if not entered */
  readonly urlFrom?: (values: Readonly<Record<string, string>>) => string;
  /** The field that is filled in from the key file of a service account; absent: the provider takes no key files. */
  readonly projectField?: string;
  /** Model names are entered: the provider does not list what the key may call. */
  readonly typedModels?: { readonly label: string; readonly hint: string };
  /** Which models of the provider's list this protocol can call; absent: all. */
  readonly served?: RegExp;
  /** Requirements, in one sentence. */
  readonly note?: string;
  /** Authentication, if not the protocol's default: `bearer`, or the name of a header. */
  readonly auth?: string;
  readonly needsKey: boolean;
  /** The beginning of its keys. */
  readonly keyExample?: string;
  /** Name in the price book; absent: found by the base URL or the model. */
  readonly book?: string;
  /** The models cost nothing: they run on hardware of the administrator. */
  readonly isFree?: true;
  /** Flags of the channel. */
  readonly flags?: Readonly<Record<string, boolean>>;
  /** The first one that matches a model's name applies. */
  readonly families?: readonly ModelFamily[];
}

/** A part of a base URL. */
export interface ProviderField {
  /** Unique within the provider. */
  readonly key: string;
  readonly label: string;
  readonly placeholder: string;
  readonly hint?: string;
  readonly isOptional?: true;
  readonly pattern: RegExp;
  /** Shown if the value is missing or does not match. */
  readonly error: string;
}

/** Facts that the provider's list of models does not state. */
export interface ModelFamily {
  readonly pattern: RegExp;
  readonly maxOutputTokens: number;
  readonly capabilities: readonly Capability[];
}

/** As in the catalog file; some are flags. */
type Capability = string | Readonly<Record<string, boolean | string>>;

const REASONING = ['vision', 'tools', 'reasoning', { samplingFixed: true }];

/** Assumed where the provider's list does not say; administrators can change them on the page of the model. */
const OPENAI_FAMILIES: readonly ModelFamily[] = [
  { pattern: /^gpt-[5-9]/, maxOutputTokens: 128_000, capabilities: REASONING },
  { pattern: /^o\d/, maxOutputTokens: 100_000, capabilities: REASONING },
  { pattern: /^gpt-4\.1/, maxOutputTokens: 32_768, capabilities: ['vision', 'tools'] },
  { pattern: /^(?:chat)?gpt-4o/, maxOutputTokens: 16_384, capabilities: ['vision', 'tools'] },
  { pattern: /^gpt-(?:4|3\.5)/, maxOutputTokens: 4_096, capabilities: ['tools'] },
];

/** Bedrock's names have prefixes: `eu.anthropic.claude-…`. */
const CLAUDE_FAMILIES: readonly ModelFamily[] = [
  // Newer models have fixed sampling parameters and take no prefilled response.
  {
    pattern: /^(?:[a-z]+\.)*claude-(?:opus|sonnet|haiku|fable)-(?:4-[6-9]|[5-9])/,
    maxOutputTokens: 128_000,
    capabilities: ['vision', 'tools', 'reasoning', { samplingFixed: true }, { prefill: false }],
  },
  {
    pattern: /^(?:[a-z]+\.)*claude-(?:opus|sonnet|haiku)-4/,
    maxOutputTokens: 32_000,
    capabilities: ['vision', 'tools', 'reasoning', { thinkingMode: 'budget' }],
  },
  {
    pattern: /^(?:[a-z]+\.)*claude-/,
    maxOutputTokens: 4_096,
    capabilities: ['vision', 'tools', { thinkingMode: 'none' }],
  },
];

const GEMINI_FAMILIES: readonly ModelFamily[] = [
  {
    pattern: /^gemini-2\.5/,
    maxOutputTokens: 65_536,
    capabilities: ['vision', 'tools', 'reasoning', { thinkingMode: 'budget' }],
  },
  {
    pattern: /^gemini-3\.[5-9]/,
    maxOutputTokens: 65_536,
    capabilities: ['vision', 'tools', 'reasoning', { samplingFixed: true }, { prefill: false }],
  },
  { pattern: /^gemini-/, maxOutputTokens: 8_192, capabilities: ['vision', 'tools'] },
];

const AWS_REGION: ProviderField = {
  key: 'region',
  label: 'Region',
  placeholder: 'eu-central-1',
  pattern: /^[a-z]{2,8}(?:-[a-z0-9]+)+-\d+$/,
  error: 'Enter an AWS region, such as eu-central-1.',
};

const BEDROCK_KEY = 'Needs an Amazon Bedrock API key. IAM access keys are not supported.';

/** In the order of the page. */
export const PROVIDERS: readonly ProviderPreset[] = [
  {
    id: 'openai',
    label: 'OpenAI',
    protocol: 'responses',
    baseUrl: 'https://api.openai.com/v1',
    needsKey: true,
    keyExample: 'sk-proj-…',
    book: 'openai',
    families: OPENAI_FAMILIES,
  },
  {
    id: 'anthropic',
    label: 'Anthropic',
    protocol: 'messages',
    baseUrl: 'https://api.anthropic.com/v1',
    needsKey: true,
    keyExample: 'sk-ant-…',
    book: 'anthropic',
    flags: { hostedWebSearch: true },
    families: CLAUDE_FAMILIES,
  },
  {
    id: 'google',
    label: 'Google',
    protocol: 'gemini',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    needsKey: true,
    keyExample: 'AIza…',
    book: 'google',
    flags: { hostedWebSearch: true, resultMedia: true },
    families: GEMINI_FAMILIES,
  },
  {
    id: 'google-interactions',
    label: 'Google (Interactions API)',
    protocol: 'interactions',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    needsKey: true,
    keyExample: 'AIza…',
    book: 'google',
    flags: { hostedWebSearch: true, resultMedia: true },
    families: GEMINI_FAMILIES,
  },
  {
    id: 'openrouter',
    label: 'OpenRouter',
    protocol: 'chat-completions',
    baseUrl: 'https://openrouter.ai/api/v1',
    needsKey: true,
    keyExample: 'sk-or-…',
    book: 'openrouter',
  },
  {
    id: 'azure',
    label: 'Azure OpenAI',
    protocol: 'responses',
    baseUrl: '',
    fields: [
      {
        key: 'resource',
        label: 'Resource name',
        placeholder: 'my-resource',
        hint: 'The part of the endpoint before .openai.azure.com.',
        pattern: /^[a-z0-9][a-z0-9-]{0,62}$/i,
        error: 'Enter the resource name: letters, digits and hyphens.',
      },
    ],
    urlFrom: ({ resource = '' }) => `https://${resource}.openai.azure.com/openai/v1`,
    typedModels: {
      label: 'Deployment names',
      hint: 'One per line. Prices are filled in for deployments that are named after their model.',
    },
    note: 'Needs an API key of the resource. Microsoft Entra ID is not supported.',
    auth: 'api-key',
    needsKey: true,
    book: 'azure',
    families: OPENAI_FAMILIES,
  },
  {
    id: 'bedrock',
    label: 'Amazon Bedrock',
    protocol: 'chat-completions',
    baseUrl: '',
    fields: [AWS_REGION],
    urlFrom: ({ region = '' }) => `https://bedrock-mantle.${region}.api.aws/v1`,
    served: /^(?!(?:[a-z]+\.)*anthropic\.)/,
    note: `${BEDROCK_KEY} For Claude, choose “Claude on Bedrock”.`,
    needsKey: true,
    book: 'aws',
  },
  {
    id: 'bedrock-claude',
    label: 'Claude on Bedrock',
    protocol: 'messages',
    baseUrl: '',
    fields: [AWS_REGION],
    urlFrom: ({ region = '' }) => `https://bedrock-mantle.${region}.api.aws/anthropic/v1`,
    typedModels: { label: 'Model IDs', hint: 'One per line, such as anthropic.claude-sonnet-5.' },
    note: BEDROCK_KEY,
    auth: 'bearer',
    needsKey: true,
    book: 'aws',
    families: CLAUDE_FAMILIES,
  },
  {
    id: 'vertex',
    label: 'Google Vertex AI',
    protocol: 'gemini',
    baseUrl: '',
    fields: [
      {
        key: 'project',
        label: 'Project ID',
        placeholder: 'my-project',
        hint: 'Leave empty to use the key file’s project, or for express mode.',
        isOptional: true,
        pattern: /^[a-z][a-z0-9-]{4,28}[a-z0-9]$/,
        error: 'Enter the project ID: 6 to 30 lowercase letters, digits and hyphens.',
      },
      {
        key: 'location',
        label: 'Location',
        placeholder: 'global',
        hint: 'Used with a project. Default: global.',
        isOptional: true,
        pattern: /^[a-z]+(?:-[a-z0-9]+)*$/,
        error: 'Enter a location, such as europe-west4, or leave it empty for global.',
      },
    ],
    urlFrom: vertexUrl,
    projectField: 'project',
    typedModels: { label: 'Model names', hint: 'One per line, such as gemini-3.8-flash.' },
    note: 'Needs the JSON key file of a service account, or an API key. Claude models are not supported.',
    needsKey: true,
    book: 'google',
    flags: { hostedWebSearch: true, resultMedia: true },
    families: GEMINI_FAMILIES,
  },
  {
    id: 'mistral',
    label: 'Mistral',
    protocol: 'chat-completions',
    baseUrl: 'https://api.mistral.ai/v1',
    needsKey: true,
    book: 'mistral',
  },
  {
    id: 'deepseek',
    label: 'DeepSeek',
    protocol: 'chat-completions',
    baseUrl: 'https://api.deepseek.com/v1',
    needsKey: true,
    keyExample: 'sk-…',
    book: 'deepseek',
    families: [{ pattern: /^deepseek-/, maxOutputTokens: 8_192, capabilities: ['tools'] }],
  },
  {
    id: 'groq',
    label: 'Groq',
    protocol: 'chat-completions',
    baseUrl: 'https://api.groq.com/openai/v1',
    needsKey: true,
    keyExample: 'gsk_…',
    book: 'groq',
  },
  {
    id: 'xai',
    label: 'xAI',
    protocol: 'chat-completions',
    baseUrl: 'https://api.x.ai/v1',
    needsKey: true,
    keyExample: 'xai-…',
    book: 'x-ai',
    families: [{ pattern: /^grok-/, maxOutputTokens: 32_768, capabilities: ['tools'] }],
  },
  {
    id: 'ollama',
    label: 'Ollama',
    protocol: 'chat-completions',
    baseUrl: 'http://127.0.0.1:11434/v1',
    needsKey: false,
    isFree: true,
  },
  {
    id: 'other',
    label: 'Other (OpenAI-compatible)',
    protocol: 'chat-completions',
    baseUrl: '',
    needsKey: false,
  },
];

function vertexUrl({ project = '', location = '' }: Readonly<Record<string, string>>): string {
  if (project === '') return 'https://aiplatform.googleapis.com/v1/publishers/google';
  const host = location === '' || location === 'global' ? '' : `${location}-`;
  const place = `projects/${project}/locations/${location || 'global'}`;
  return `https://${host}aiplatform.googleapis.com/v1/${place}/publishers/google`;
}
