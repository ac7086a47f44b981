import { headerOf, type NameRule, type RequestLine, type UpstreamTarget } from '../contract/index.js';

/** By budget, by effort, by effort without a switch, or not at all. */
type MessagesThinkingMode = 'budget' | 'adaptive' | 'always' | 'none';

export interface MessagesFlags {
  readonly version: string;
  readonly takesSampling: boolean;
  /** Accepts `temperature` or `top_p`, not both. */
  readonly takesOneSampler: boolean;
  readonly thinkingMode: MessagesThinkingMode;
  readonly efforts: readonly string[];
  readonly takesSystemTurns: boolean;
  readonly takesFormats: boolean;
  readonly takesStrictTools: boolean;
  readonly takesPrefill: boolean;
  readonly takesImageUrls: boolean;
  /** Type of its web search tool, if offered to other protocols. */
  readonly webSearch: string | undefined;
  /** Sets cache breakpoints for clients that set none. */
  readonly caches: boolean;
  /** Placeholder for empty results; empty if allowed. */
  readonly emptyResult: string;
}
const DEFAULT_EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'];
const DEFAULT_WEB_SEARCH = 'web_search_20250305';
const NO_OUTPUT = '(no output)';

/** Defaults are accepted by every server. */
export function messagesFlags({ flags }: UpstreamTarget): MessagesFlags {
  const version = textOf(flags['anthropicVersion']) ?? DEFAULT_VERSION;
  const { efforts, hostedWebSearch, emptyToolResultText } = flags;
  return {
    version,
    takesSampling: knowsSampling(version) && flags['samplingFixed'] !== true,
    takesOneSampler: flags['oneSampler'] === true,
    thinkingMode: thinkingModeOf(flags),
    // `none` is a switch here, not an effort.
    efforts: Array.isArray(efforts) ? efforts.filter((effort) => effort !== 'none') : DEFAULT_EFFORTS,
    takesSystemTurns: flags['midSystem'] === 'native',
    takesFormats: flags['structuredOutput'] !== false,
    takesStrictTools: flags['strictSchema'] !== false,
    takesPrefill: flags['prefill'] !== false,
    takesImageUrls: flags['imageUrl'] !== false,
    webSearch: hostedWebSearch === true ? DEFAULT_WEB_SEARCH : textOf(hostedWebSearch),
    caches: flags['autoCacheControl'] !== false,
    emptyResult: emptyToolResultText === true ? NO_OUTPUT : (textOf(emptyToolResultText) ?? ''),
  };
}

const textOf = (flag: unknown): string | undefined => (typeof flag === 'string' && flag !== '' ? flag : undefined);

const THINKING_MODES: readonly unknown[] = ['budget', 'adaptive', 'always', 'none'] satisfies MessagesThinkingMode[];

/** A model that is only marked as reasoning is assumed to be current. */
function thinkingModeOf({ thinkingMode, reasoning = false }: UpstreamTarget['flags']): MessagesThinkingMode {
  if (THINKING_MODES.includes(thinkingMode)) return thinkingMode as MessagesThinkingMode;
  return reasoning === false ? 'none' : 'adaptive';
}

/** The vendor's header name and a neutral one. */
export const VERSION_HEADERS = ['anthropic-version', 'vendor-version'] as const;

/** The vendor's name takes precedence. */
export const versionHeaderOf = (request: RequestLine): string | undefined =>
  headerOf(request, VERSION_HEADERS[0]) ?? headerOf(request, VERSION_HEADERS[1]);

/** From this version on, `temperature`, `top_p` and `top_k` are rejected. */
export const WITHOUT_SAMPLING = '2026-10-21';

/** @param version date; undefined: the first version */
export const knowsSampling = (version: string | undefined): boolean =>
  version === undefined || version < WITHOUT_SAMPLING;

/** Sent upstream if the client names none. */
export const DEFAULT_VERSION = '2023-06-01';

export const TOOL_NAMES: NameRule = { maxLength: 128, invalid: /[^a-zA-Z0-9_-]/g };
