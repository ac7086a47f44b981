import type { ChannelRecord } from '../../../catalog/channels/index.js';
import { type FormBody, typedCount } from '../../web/index.js';

type ChannelFlags = ChannelRecord['flags'];
type ChannelFlagValue = ChannelFlags[string];

const PREFIX = '_flag.';

/** The view of a flag. */
interface FlagControl {
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly text: string;
  /** Absent for text fields. */
  readonly options?: readonly { readonly value: string; readonly label: string; readonly selected: boolean }[];
  readonly value: string;
}

interface FlagSection {
  readonly controls: readonly FlagControl[];
  /** Number of flags that are set. */
  readonly set: number;
  /** Labels of the set flags. */
  readonly setLabels: string;
  /** Flags without a control; saving keeps them. */
  readonly kept: readonly { readonly name: string; readonly value: string }[];
}

const typed = (value: ChannelFlagValue | undefined): string => {
  if (value === undefined) return '';
  return Array.isArray(value) ? value.join(', ') : String(value);
};

/**
 * The controls of a protocol's flags.
 * @param flags as stored
 * @param body the submitted form, if any
 */
export function flagSection(protocol: string, flags: ChannelFlags, body?: FormBody): FlagSection {
  const own = FLAGS.filter((flag) => flag.of.includes(protocol));
  const controls = own.map((flag) => controlOf(flag, textIn(body, flag.name) ?? typed(flags[flag.name])));
  const names = new Set(own.map(({ name }) => name));
  const set = controls.filter(({ value }) => value !== '');
  return {
    controls,
    set: set.length,
    setLabels: set.map(({ label }) => label).join(', '),
    kept: Object.keys(flags)
      .filter((name) => !names.has(name))
      .map((name) => ({ name, value: typed(flags[name]) })),
  };
}

/** The flags of a form; flags without a control are kept. */
export function flagsFrom(flags: ChannelFlags, body: FormBody): ChannelFlags {
  const changed = new Map(Object.entries(flags));
  for (const flag of FLAGS) {
    const text = textIn(body, flag.name)?.trim();
    if (text === undefined || text === typed(flags[flag.name])) continue;
    if (text === '') changed.delete(flag.name);
    else changed.set(flag.name, valueOf(flag, text));
  }
  return Object.fromEntries(changed);
}

/** Flags are separate fields of the page. */
export const isFlagField = (name: string): boolean => name.startsWith(PREFIX);

const textIn = (body: FormBody | undefined, name: string): string | undefined => {
  const value = body?.[PREFIX + name];
  return typeof value === 'string' ? value : value?.[0];
};

function valueOf({ form }: FlagLabels, text: string): ChannelFlagValue {
  if (text === 'true' || text === 'false') return text === 'true';
  if (form === 'count') return typedCount(text) ?? text;
  return form === 'names' ? text.split(/[\s,]+/).filter((name) => name !== '') : text;
}

function controlOf({ name, label, text, form }: FlagLabels, value: string): FlagControl {
  const control = { id: `flag-${name}`, name: PREFIX + name, label, text, value };
  if (form === 'text' || form === 'count' || form === 'names') return control;
  const choices = form === 'switch' ? ['true', 'false'] : form;
  // Keep an unknown stored value selectable, so that saving does not change it.
  const all = ['', ...choices, ...(value === '' || choices.includes(value) ? [] : [value])];
  return {
    ...control,
    options: all.map((choice) => ({ value: choice, label: LABELS[choice] ?? choice, selected: choice === value })),
  };
}

const LABELS: Readonly<Record<string, string>> = { '': 'Default', true: 'Yes', false: 'No' };

/**
 * Label and help of a channel flag. The flags are implemented by the protocols (`*.flags.ts`) and documented in
 * `docs/catalog-file.md`.
 */
interface FlagLabels {
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
const I = 'interactions';
const ALL = [R, C, M, G, I];
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
  flag('nativeOnly', [R, C, M], 'switch', 'Native protocol only', 'Serve only calls that need no translation.'),
  flag(
    'sharedState',
    [R, C, M],
    'switch',
    'Dedicated upstream account',
    'Only one account uses this upstream account, so file, conversation and other IDs are passed through.',
  ),
  flag(
    'unknownMembers',
    [R, C, M],
    ['refuse'],
    'Unknown fields',
    'Refuse: requests with fields unknown to the relay are not sent to this channel.',
  ),
  flag('compaction', [R, M], 'switch', 'Compaction', 'Compacts conversations. No: the relay has them summarized.'),
  flag(
    'websocket',
    [R],
    'switch',
    'WebSocket',
    'Accepts WebSockets. Calls of WebSocket clients use one per lane, which keeps the conversation.',
  ),
  flag('family', ALL, 'text', 'Family', 'Channels with the same family accept each other’s signed reasoning.'),
  flag(
    'forceUpstreamStream',
    ALL,
    'switch',
    'Always stream upstream',
    'Always request a stream from the upstream. No: only when the client asked for one.',
  ),
  flag('includeUsage', [C], 'switch', 'Usage in streams', 'Can report usage in streams.'),
  flag(
    'maxTokensField',
    [C],
    ['max_tokens', 'max_completion_tokens'],
    'Output limit field',
    'Field in which the upstream expects the output limit.',
  ),
  flag('reasoning', ALL, 'switch', 'Reasoning', 'The models support reasoning.'),
  flag(
    'thinkingMode',
    [R, M, G, I],
    ['budget', 'adaptive', 'always', 'level', 'none'],
    'Reasoning control',
    'How the upstream sets reasoning: token budget, effort (adaptive), level, always on, or not at all.',
  ),
  flag('efforts', ALL, 'names', 'Efforts', 'Efforts the models support; others are mapped to the nearest.'),
  flag('reasoningSummary', [R], 'switch', 'Reasoning summary', 'Requests a summary if the client shows reasoning.'),
  flag('cacheKey', [C], 'switch', 'Cache key', 'Supports prompt_cache_key.'),
  flag('verbosity', [C], 'switch', 'Verbosity', 'Supports verbosity.'),
  flag(
    'replayReasoning',
    [C],
    'switch',
    'Replay reasoning',
    'Include earlier reasoning when sending tool calls back to the model.',
  ),
  flag(
    'reasoningField',
    [C],
    ['reasoning_content', 'reasoning'],
    'Reasoning field',
    'Field in which reasoning is sent back.',
  ),
  flag('thinkTagSplit', [C], 'switch', 'Think tags', 'Treats text inside <think> tags as reasoning.'),
  flag('samplingFixed', ALL, 'switch', 'Fixed sampling', 'Rejects temperature, top_p and similar parameters.'),
  flag('oneSampler', [M], 'switch', 'Temperature or top_p', 'Accepts temperature or top_p, not both.'),
  flag('topK', [C], 'switch', 'Top k', 'Supports top_k.'),
  flag('penalties', [G], 'switch', 'Penalties', 'Supports presence_penalty and frequency_penalty.'),
  flag(
    'stopMax',
    [C, G, I],
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
  flag('prefill', [M, G, I], 'switch', 'Prefill', 'Accepts conversations that end with an assistant message.'),
  flag('customTools', [C], 'switch', 'Custom tools', 'Supports tools with free-form text input.'),
  flag('allowedTools', [R, C], 'switch', 'Allowed tools', 'Supports limiting the tool choice to some tools.'),
  flag('strictSchema', [C, M], 'switch', 'Strict schemas', 'Supports strict tools and schemas.'),
  flag(
    'structuredOutput',
    [C, M, G, I],
    [...SWITCH, 'alone'],
    'Structured output',
    'Can enforce a response schema. “Alone”: only in requests without tools.',
  ),
  flag('hostedWebSearch', ALL, 'text', 'Web search', 'Hosted web search: true, false, or the tool type to use.'),
  flag('imageUrl', ALL, 'switch', 'Images by URL', 'Fetches images by URL.'),
  flag('audio', [R, C, G, I], 'switch', 'Audio', 'Accepts audio input.'),
  flag('emptyToolResultText', ALL, 'switch', 'Empty tool results', 'Sends empty tool results as “(no output)”.'),
  flag('resultMedia', [G, I], 'switch', 'Media in tool results', 'Tool results can contain images and files.'),
  flag('toolIdStyle', [C], ['alphanumeric9'], 'Tool call IDs', 'Requires nine-character alphanumeric tool call IDs.'),
  flag('autoCacheControl', [M], 'switch', 'Cache markers', 'Adds cache markers to prompts without any.'),
];
