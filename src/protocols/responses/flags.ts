import type { Effort, UpstreamTarget } from '../contract/index.js';

/** Capabilities of an upstream. */
export interface ResponsesFlags {
  /** Instructions are part of the input, in front. */
  readonly leadInInput: boolean;
  /** Role of instructions. */
  readonly instructor: 'developer' | 'system';
  readonly takesAllowedTools: boolean;
  readonly searchesWeb: boolean;
  readonly takesImageUrls: boolean;
  readonly takesAudio: boolean;
  /** `temperature` and `top_p` are accepted. */
  readonly takesSampling: boolean;
  /** A reasoning model: others reject reasoning settings. */
  readonly reasons: boolean;
  readonly summarizes: boolean;
  readonly efforts: readonly Effort[];
  /** Placeholder for empty tool results. */
  readonly emptyResult: string;
}

/** Default of reasoning models. */
const DEFAULT_EFFORTS: readonly Effort[] = ['low', 'medium', 'high'];

/** The flags of a target; defaults match the vendor's servers. */
export function responsesFlags({ flags }: UpstreamTarget): ResponsesFlags {
  const { efforts, reasoning = Array.isArray(efforts) } = flags;
  return {
    leadInInput: flags['systemInInput'] === true,
    instructor: flags['developerRole'] === false ? 'system' : 'developer',
    takesAllowedTools: flags['allowedTools'] !== false,
    searchesWeb: flags['hostedWebSearch'] !== false,
    takesImageUrls: flags['imageUrl'] !== false,
    takesAudio: flags['audio'] === true,
    takesSampling: flags['samplingFixed'] !== true,
    reasons: reasoning !== false && flags['thinkingMode'] !== 'none',
    summarizes: flags['reasoningSummary'] !== false,
    efforts: Array.isArray(efforts) ? efforts.filter((effort) => typeof effort === 'string') : DEFAULT_EFFORTS,
    emptyResult: flags['emptyToolResultText'] === true ? '(no output)' : '',
  };
}
