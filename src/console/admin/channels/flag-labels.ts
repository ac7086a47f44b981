/**
 * Label and help of a channel flag. The flags are implemented by the protocols (`*.flags.ts`) and documented in
 * `docs/catalog-file.md`.
 */
export interface FlagLabels {
  readonly name: string;
  /** Protocols that have the flag. */
  readonly of: readonly string[];
  readonly label: string;
  /** Help text, a sentence. */
  readonly text: string;
  /** `switch`: yes or no; a list: one of its values; `text`, `count`, `names`: text fields. */
  readonly form: 'switch' | 'text' | 'count' | 'names' | readonly string[];
}

const R = 'responses';
const C = 'chat-completions';
const M = 'messages';
const G = 'gemini';
const ALL = [R, C, M, G];
const SWITCH = ['true', 'false'];

const flag = (
  name: string,
  of: readonly string[],
  form: FlagLabels['form'],
  label: string,
  text: string,
): FlagLabels => ({
  name,
  of,
  form,
  label,
  text,
});

/** In the order of the documentation. */
export const FLAGS: readonly FlagLabels[] = [
  flag('nativeOnly', [R, C, M], 'switch', 'Native protocol only', 'Accepts only calls in its own protocol.'),
  flag(
    'sharedState',
    [R, C, M],
    'switch',
    'Dedicated upstream account',
    'The upstream account belongs to one account here. IDs of files, conversations and other upstream state pass.',
  ),
  flag(
    'unknownMembers',
    [R, C, M],
    ['refuse'],
    'Unknown request members',
    'Requests with members that no table lists are not sent here.',
  ),
  flag('family', ALL, 'text', 'Family', 'Channels of one family can read each other’s signed reasoning.'),
  flag(
    'forceUpstreamStream',
    ALL,
    'switch',
    'Always stream upstream',
    'Streams all calls upstream. If set to no, only calls of clients that stream.',
  ),
  flag('includeUsage', [C], 'switch', 'Usage in streams', 'Can report usage in streams.'),
  flag(
    'maxTokensField',
    [C],
    ['max_tokens', 'max_completion_tokens'],
    'Output limit field',
    'Name of the output limit field.',
  ),
  flag('reasoning', ALL, 'switch', 'Reasoning', 'The models support reasoning.'),
  flag(
    'thinkingMode',
    [R, M, G],
    ['budget', 'adaptive', 'always', 'level', 'none'],
    'Reasoning control',
    'Controls reasoning by token budget, effort (adaptive) or level; always on; or no control.',
  ),
  flag('efforts', ALL, 'names', 'Efforts', 'Supported reasoning efforts. The nearest one is requested.'),
  flag('reasoningSummary', [R], 'switch', 'Reasoning summary', 'Requests a summary if the client shows reasoning.'),
  flag('cacheKey', [C], 'switch', 'Cache key', 'Supports prompt_cache_key.'),
  flag('verbosity', [C], 'switch', 'Verbosity', 'Supports verbosity.'),
  flag('replayReasoning', [C], 'switch', 'Replay reasoning', 'Sends reasoning back with the tool calls it led to.'),
  flag(
    'reasoningField',
    [C],
    ['reasoning_content', 'reasoning'],
    'Reasoning field',
    'Field in which reasoning is sent back.',
  ),
  flag('thinkTagSplit', [C], 'switch', 'Think tags', 'Treats text inside <think> tags as reasoning.'),
  flag('samplingFixed', ALL, 'switch', 'Fixed sampling', 'Rejects temperature, top_p and similar parameters.'),
  flag('oneSampler', [M], 'switch', 'One sampler', 'Accepts temperature or top_p, not both.'),
  flag('topK', [C], 'switch', 'Top k', 'Supports top_k.'),
  flag('penalties', [G], 'switch', 'Penalties', 'Supports presence_penalty and frequency_penalty.'),
  flag(
    'stopMax',
    [C, G],
    'count',
    'Stop sequences',
    'Maximum stop sequences the upstream accepts; the relay enforces the rest.',
  ),
  flag('anthropicVersion', [M], 'text', 'API version', 'Version of the Messages API, for example 2023-06-01.'),
  flag(
    'developerRole',
    [R, C],
    'switch',
    'Developer role',
    'Sends instructions with the role developer instead of system.',
  ),
  flag('systemInInput', [R], 'switch', 'System in input', 'Sends instructions as an input item.'),
  flag(
    'midSystem',
    [C, M],
    ['native', 'user'],
    'Mid-conversation instructions',
    'Native: accepts instructions within the conversation. User: sends them as user text.',
  ),
  flag('prefill', [M, G], 'switch', 'Prefill', 'Accepts conversations that end with an assistant message.'),
  flag('customTools', [C], 'switch', 'Custom tools', 'Supports tools with free-form text input.'),
  flag('allowedTools', [R, C], 'switch', 'Allowed tools', 'Supports limiting the tool choice to some tools.'),
  flag('strictSchema', [C, M], 'switch', 'Strict schemas', 'Supports strict tools and schemas.'),
  flag(
    'structuredOutput',
    [C, M, G],
    [...SWITCH, 'alone'],
    'Structured output',
    'Can enforce a response schema. Alone: not together with tools.',
  ),
  flag(
    'hostedWebSearch',
    ALL,
    'text',
    'Web search',
    'Supports hosted web search: true, false, or the type of the tool.',
  ),
  flag('imageUrl', ALL, 'switch', 'Images by URL', 'Fetches images by URL.'),
  flag('audio', [R, C, G], 'switch', 'Audio', 'Accepts audio input.'),
  flag('emptyToolResultText', ALL, 'switch', 'Empty tool results', 'Sends empty tool results as “(no output)”.'),
  flag('resultMedia', [G], 'switch', 'Media in tool results', 'Tool results can contain images and files.'),
  flag('toolIdStyle', [C], ['alphanumeric9'], 'Tool call IDs', 'Tool call IDs have nine letters and digits.'),
  flag('autoCacheControl', [M], 'switch', 'Cache markers', 'Adds cache markers to prompts without any.'),
];
