/**
 * A flag of a channel as its page asks for it. What the flags do is the dialects' (`*.flags.ts`); `docs/catalog-file.md`
 * has the table.
 */
export interface FlagWords {
  readonly name: string;
  /** Of which protocols. */
  readonly of: readonly string[];
  readonly label: string;
  /** What it says, as a sentence. */
  readonly text: string;
  /** `switch`: yes or no; a list: one of these; `text`, `count`, `names`: typed. */
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
  form: FlagWords['form'],
  label: string,
  text: string,
): FlagWords => ({
  name,
  of,
  form,
  label,
  text,
});

/** In the order of that table. */
export const FLAGS: readonly FlagWords[] = [
  flag('nativeOnly', [R, C, M], 'switch', 'Its own dialect only', 'Takes calls of its own dialect alone.'),
  flag(
    'sharedState',
    [R, C, M],
    'switch',
    'State of one account',
    'The upstream account belongs to one account here: ids of files, conversations and the like pass.',
  ),
  flag(
    'unknownMembers',
    [R, C, M],
    ['refuse'],
    'Unknown members',
    'Requests with members that are in no table are refused.',
  ),
  flag('family', ALL, 'text', 'Family', 'Channels of one family read each other’s signed reasoning.'),
  flag(
    'forceUpstreamStream',
    ALL,
    'switch',
    'Always streamed',
    'Every call is streamed upstream; no: only for clients that want a stream.',
  ),
  flag('includeUsage', [C], 'switch', 'Usage of streams', 'Streams can be asked for their usage.'),
  flag(
    'maxTokensField',
    [C],
    ['max_tokens', 'max_completion_tokens'],
    'Output limit',
    'What the output limit is called there.',
  ),
  flag('reasoning', ALL, 'switch', 'Reasoning', 'The models think before they answer.'),
  flag(
    'thinkingMode',
    [R, M, G],
    ['budget', 'adaptive', 'always', 'level', 'none'],
    'How it is told to think',
    'By a budget of tokens, by effort, by a level, always, or not at all.',
  ),
  flag('efforts', ALL, 'names', 'Efforts', 'The efforts that are known there; the nearest one is asked for.'),
  flag(
    'reasoningSummary',
    [R],
    'switch',
    'Reasoning summary',
    'A summary is asked for where the client shows thoughts.',
  ),
  flag('cacheKey', [C], 'switch', 'Cache key', 'Knows prompt_cache_key.'),
  flag('verbosity', [C], 'switch', 'Verbosity', 'Knows verbosity.'),
  flag(
    'replayReasoning',
    [C],
    'switch',
    'Thoughts go back',
    'Thoughts are given back with the tool calls they led to.',
  ),
  flag(
    'reasoningField',
    [C],
    ['reasoning_content', 'reasoning'],
    'Member of thoughts',
    'The member in which thoughts are given back.',
  ),
  flag('thinkTagSplit', [C], 'switch', 'Think tags', 'What stands between <think> tags is a thought.'),
  flag('samplingFixed', ALL, 'switch', 'Fixed sampling', 'Refuses temperature, top_p and the like.'),
  flag('oneSampler', [M], 'switch', 'One sampler', 'Takes temperature or top_p, not both.'),
  flag('topK', [C], 'switch', 'Top k', 'Knows top_k.'),
  flag('penalties', [G], 'switch', 'Penalties', 'Knows presence_penalty and frequency_penalty.'),
  flag('stopMax', [C, G], 'count', 'Stop texts', 'So many stop texts; others are looked for here.'),
  flag('anthropicVersion', [M], 'text', 'API version', 'The version that is spoken, such as 2023-06-01.'),
  flag('developerRole', [R, C], 'switch', 'Developer role', 'Instructions come from a developer; no: from system.'),
  flag('systemInInput', [R], 'switch', 'System in input', 'Instructions stand in the input, not beside it.'),
  flag('midSystem', [C, M], ['native', 'user'], 'Instructions within', 'Native: they may stand in the conversation.'),
  flag('prefill', [M, G], 'switch', 'Prefill', 'A conversation may end with the assistant.'),
  flag('customTools', [C], 'switch', 'Custom tools', 'Knows tools that take any text.'),
  flag('allowedTools', [R, C], 'switch', 'Allowed tools', 'The choice can be narrowed to some tools.'),
  flag('strictSchema', [C, M], 'switch', 'Strict schemas', 'Tools and schemas can be strict.'),
  flag(
    'structuredOutput',
    [C, M, G],
    [...SWITCH, 'alone'],
    'Structured output',
    'Answers can be held to a schema; alone: not beside tools.',
  ),
  flag(
    'hostedWebSearch',
    ALL,
    'text',
    'Web search',
    'Can search the web itself: true, false, or the type of that tool.',
  ),
  flag('imageUrl', ALL, 'switch', 'Images by address', 'Fetches images by their address.'),
  flag('audio', [R, C, G], 'switch', 'Audio', 'Hears.'),
  flag('emptyToolResultText', ALL, 'switch', 'Empty results', 'An empty result of a tool is sent as “(no output)”.'),
  flag('resultMedia', [G], 'switch', 'Media in results', 'Results of tools can hold images and files.'),
  flag('toolIdStyle', [C], ['alphanumeric9'], 'Ids of tool calls', 'Nine letters and digits.'),
  flag('autoCacheControl', [M], 'switch', 'Cache marks', 'Prompts that mark nothing for the cache are marked.'),
];
