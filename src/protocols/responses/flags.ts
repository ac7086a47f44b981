import type { Effort, UpstreamTarget } from '../contract/index.js';

export interface ResponsesFlags {
  /** Instructions are the first input items. */
  readonly leadInInput: boolean;
  readonly instructor: 'developer' | 'system';
  readonly takesAllowedTools: boolean;
  readonly searchesWeb: boolean;
  readonly takesImageUrls: boolean;
  readonly takesAudio: boolean;
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

/** Defaults match the vendor's servers. */
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
