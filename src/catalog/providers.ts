/** A provider that "Add models" knows how to connect. A new one is an entry here. */
export interface ProviderPreset {
  readonly id: string;
  readonly label: string;
  /** Also decides how models are listed. */
  readonly protocol: string;
  /** Empty if the administrator must enter it. */
  readonly baseUrl: string;
  /** Authentication, if not the protocol's default. */
  readonly auth?: 'bearer';
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
    families: [
      // Newer models have fixed sampling parameters and take no prefilled response.
      {
        pattern: /^claude-(?:opus|sonnet|haiku|fable)-(?:4-[6-9]|[5-9])/,
        maxOutputTokens: 128_000,
        capabilities: ['vision', 'tools', 'reasoning', { samplingFixed: true }, { prefill: false }],
      },
      {
        pattern: /^claude-(?:opus|sonnet|haiku)-4/,
        maxOutputTokens: 32_000,
        capabilities: ['vision', 'tools', 'reasoning', { thinkingMode: 'budget' }],
      },
      { pattern: /^claude-/, maxOutputTokens: 4_096, capabilities: ['vision', 'tools', { thinkingMode: 'none' }] },
    ],
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
    families: [
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
    ],
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
