import type { Effort, UpstreamTarget } from '../contract/index.js';

/** What an upstream of this dialect can do, as its channel and its model say. */
export interface ResponsesFlags {
  /** Instructions stand in the input, in front of everything. */
  readonly leadInInput: boolean;
  /** Who gives instructions there. */
  readonly instructor: 'developer' | 'system';
  readonly takesAllowedTools: boolean;
  readonly searchesWeb: boolean;
  readonly takesImageUrls: boolean;
  readonly takesAudio: boolean;
  /** `temperature` and `top_p` are taken. */
  readonly takesSampling: boolean;
  /** The model thinks: others refuse every wish about it. */
  readonly reasons: boolean;
  readonly summarizes: boolean;
  readonly efforts: readonly Effort[];
  /** What stands for the result of a tool that gave none. */
  readonly emptyResult: string;
}

/** Of models that think, where nobody says more. */
const DEFAULT_EFFORTS: readonly Effort[] = ['low', 'medium', 'high'];

/** The flags of a target; what is not said is what the vendor's own servers do. */
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
