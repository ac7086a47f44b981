import { headerOf, type RequestLine, type UpstreamTarget } from '../contract/index.js';

/** How a model is told to think: by a budget of tokens; by an effort; by an effort, and it always does; not at all. */
type ThinkingMode = 'budget' | 'adaptive' | 'always' | 'none';

/** What a model can do at an upstream of this dialect. */
export interface MessagesFlags {
  readonly version: string;
  readonly takesSampling: boolean;
  /** It takes `temperature` or `top_p`, not both. */
  readonly takesOneSampler: boolean;
  readonly thinkingMode: ThinkingMode;
  readonly efforts: readonly string[];
  readonly takesSystemTurns: boolean;
  readonly takesFormats: boolean;
  readonly takesStrictTools: boolean;
  readonly takesPrefill: boolean;
  readonly takesImageUrls: boolean;
  /** The type of its web search, where clients of other dialects may have it. */
  readonly webSearch: string | undefined;
  /** Prompts of clients that mark nothing are kept in its cache. */
  readonly caches: boolean;
  /** What stands in a result that is empty; nothing where that is allowed. */
  readonly emptyResult: string;
}
const DEFAULT_EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'];
const DEFAULT_WEB_SEARCH = 'web_search_20250305';
const NO_OUTPUT = '(no output)';

/** The flags of a target; what is not said is what any server of this dialect takes. */
export function messagesFlags({ flags }: UpstreamTarget): MessagesFlags {
  const version = textOf(flags['anthropicVersion']) ?? DEFAULT_VERSION;
  const { efforts, hostedWebSearch, emptyToolResultText } = flags;
  return {
    version,
    takesSampling: knowsSampling(version) && flags['samplingFixed'] !== true,
    takesOneSampler: flags['oneSampler'] === true,
    thinkingMode: thinkingModeOf(flags),
    // No effort is no word of this dialect's, but a switch.
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

const THINKING_MODES: readonly unknown[] = ['budget', 'adaptive', 'always', 'none'] satisfies ThinkingMode[];

/** Who says of a model only that it reasons means one of today's. */
function thinkingModeOf({ thinkingMode, reasoning = false }: UpstreamTarget['flags']): ThinkingMode {
  if (THINKING_MODES.includes(thinkingMode)) return thinkingMode as ThinkingMode;
  return reasoning === false ? 'none' : 'adaptive';
}

/** The vendor's own name of the header, and the neutral one. */
export const VERSION_HEADERS = ['anthropic-version', 'vendor-version'] as const;

/** The version that the client speaks; the vendor's own name wins. */
export const versionHeaderOf = (request: RequestLine): string | undefined =>
  headerOf(request, VERSION_HEADERS[0]) ?? headerOf(request, VERSION_HEADERS[1]);

/** From this version on `temperature`, `top_p` and `top_k` are refused, whatever they say. */
export const WITHOUT_SAMPLING = '2026-10-21';

/** Whether requests may say how to sample. @param version a date; undefined is the first one */
export const knowsSampling = (version: string | undefined): boolean =>
  version === undefined || version < WITHOUT_SAMPLING;

/** What upstreams are spoken to in when the client names none. */
export const DEFAULT_VERSION = '2023-06-01';
