import { createHash } from 'node:crypto';
import { conforming, type Effort, type NameRule, type UpstreamTarget } from '../contract/index.js';
import { OUTPUT_LIMITS } from './head.js';

// Capabilities of upstreams. Defaults are accepted by nearly all servers.

type TargetFlags = UpstreamTarget['flags'];

export interface ChatFlags {
  readonly limitName: (typeof OUTPUT_LIMITS)[number];
  readonly developerRole: boolean;
  /** Instructions within the conversation; otherwise they become tagged user text. */
  readonly midSystem: boolean;
  readonly customTools: boolean;
  readonly allowedTools: boolean;
  readonly hostedWebSearch: boolean;
  readonly imageUrl: boolean;
  readonly audio: boolean;
  readonly topK: boolean;
  /** Many servers reject `prompt_cache_key` and `verbosity`. */
  readonly cacheKey: boolean;
  readonly verbosity: boolean;
  /** `temperature`, `top_p` and the like are rejected. */
  readonly samplingFixed: boolean;
  readonly strictSchema: boolean;
  /** Output schemas; otherwise they are described. */
  readonly structuredOutput: boolean;
  readonly includeUsage: boolean;
  /** Placeholder for empty tool results. */
  readonly emptyToolResult: string;
  readonly stopMax: number;
  /** Member in which reasoning is sent back with its calls; undefined: not sent. */
  readonly replayedReasoning: 'reasoning_content' | 'reasoning' | undefined;
  readonly efforts: readonly Effort[];
  readonly thinkTagSplit: boolean;
  toolId(id: string): string;
}

const DEFAULT_STOPS = 4;
/** Default of reasoning models. */
const DEFAULT_EFFORTS: readonly Effort[] = ['low', 'medium', 'high'];

export const chatFlags = (flags: TargetFlags): ChatFlags => ({
  limitName: limitName(flags),
  developerRole: flags['developerRole'] === true,
  midSystem: flags['midSystem'] === 'native',
  customTools: flags['customTools'] === true,
  allowedTools: flags['allowedTools'] === true,
  hostedWebSearch: flags['hostedWebSearch'] === true,
  imageUrl: flags['imageUrl'] !== false,
  audio: flags['audio'] === true,
  topK: flags['topK'] === true,
  cacheKey: flags['cacheKey'] === true,
  verbosity: flags['verbosity'] === true,
  samplingFixed: flags['samplingFixed'] === true,
  strictSchema: flags['strictSchema'] !== false,
  structuredOutput: flags['structuredOutput'] !== false,
  includeUsage: flags['includeUsage'] !== false,
  emptyToolResult: flags['emptyToolResultText'] === true ? '(no output)' : '',
  stopMax: typeof flags['stopMax'] === 'number' ? flags['stopMax'] : DEFAULT_STOPS,
  replayedReasoning: replayedReasoning(flags),
  efforts: efforts(flags),
  thinkTagSplit: flags['thinkTagSplit'] === true,
  toolId: flags['toolIdStyle'] === 'alphanumeric9' ? nineAlphanumerics : (id) => conforming(id, TOOL_ID),
});

/** The upstream's name of the output limit. */
export const limitName = (flags: TargetFlags): (typeof OUTPUT_LIMITS)[number] =>
  OUTPUT_LIMITS.find((known) => known === flags['maxTokensField']) ?? 'max_tokens';

function replayedReasoning(flags: TargetFlags): ChatFlags['replayedReasoning'] {
  if (flags['replayReasoning'] !== true || flags['reasoningField'] === 'none') return undefined;
  return flags['reasoningField'] === 'reasoning' ? 'reasoning' : 'reasoning_content';
}

/** Servers without efforts may reject requests with one. */
function efforts(flags: TargetFlags): readonly Effort[] {
  const configured = flags['efforts'];
  if (Array.isArray(configured)) return configured.filter((effort) => typeof effort === 'string');
  return flags['reasoning'] === true ? DEFAULT_EFFORTS : [];
}

/** For tools and schemas. */
export const TOOL_NAME: NameRule = { maxLength: 64, invalid: /[^A-Za-z0-9_-]/g };
const TOOL_ID: NameRule = { maxLength: 64, invalid: /[^\x21-\x7e]/g };
const NINE_ALPHANUMERICS = /^[A-Za-z0-9]{9}$/;

const nineAlphanumerics = (id: string): string =>
  NINE_ALPHANUMERICS.test(id) ? id : createHash('sha256').update(id).digest('hex').slice(0, 9);
