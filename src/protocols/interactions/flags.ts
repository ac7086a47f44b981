import type { Effort, UpstreamTarget } from '../contract/index.js';

export interface InteractionsFlags {
  /** False: the model does not reason. */
  readonly reasons: boolean;
  /** Ascending. */
  readonly efforts: readonly Effort[];
  readonly takesSampling: boolean;
  readonly stopMax: number;
  /** When output formats are supported: always, only without tools, or never. */
  readonly takesFormats: 'always' | 'alone' | 'never';
  readonly takesPrefill: boolean;
  /** Fetches images and files by URL. */
  readonly takesUrls: boolean;
  readonly takesAudio: boolean;
  /** Tool results may contain images and files; otherwise they follow. */
  readonly takesMediaInResults: boolean;
  readonly searchesWeb: boolean;
  /** Placeholder for empty results. */
  readonly emptyResult: string;
}

const MAX_STOPS = 5;
const DEFAULT_EFFORTS: readonly Effort[] = ['low', 'medium', 'high'];

/** Defaults are accepted by every model. */
export function interactionsFlags({ flags }: UpstreamTarget): InteractionsFlags {
  const { reasoning = false, thinkingMode, efforts, structuredOutput: formats } = flags;
  return {
    // The protocol has levels only, also for models with budgets.
    reasons: thinkingMode === undefined ? reasoning !== false : thinkingMode !== 'none',
    efforts: Array.isArray(efforts) ? efforts.filter((effort) => LEVELS.has(effort)) : DEFAULT_EFFORTS,
    takesSampling: flags['samplingFixed'] !== true,
    stopMax: typeof flags['stopMax'] === 'number' ? flags['stopMax'] : MAX_STOPS,
    takesFormats: formats === false ? 'never' : formats === 'alone' ? 'alone' : 'always',
    takesPrefill: flags['prefill'] !== false,
    takesUrls: flags['imageUrl'] !== false,
    takesAudio: flags['audio'] === true,
    takesMediaInResults: flags['resultMedia'] === true,
    searchesWeb: flags['hostedWebSearch'] === true,
    emptyResult: flags['emptyToolResultText'] === true ? '(no output)' : '',
  };
}

/** Reasoning cannot be turned off. */
const LEVELS: ReadonlySet<unknown> = new Set(['minimal', 'low', 'medium', 'high', 'xhigh']);
