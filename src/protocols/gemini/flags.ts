import type { Effort, UpstreamTarget } from '../contract/index.js';

/** How reasoning is controlled. */
type GeminiThinkingMode = 'level' | 'budget' | 'none';

export interface GeminiFlags {
  readonly thinkingMode: GeminiThinkingMode;
  /** Ascending; budgets are expressed as efforts too. */
  readonly efforts: readonly Effort[];
  readonly canDisableThinking: boolean;
  readonly takesSampling: boolean;
  readonly takesPenalties: boolean;
  readonly stopMax: number;
  /** When output formats are supported: always, only without tools, or never. */
  readonly takesFormats: 'always' | 'alone' | 'never';
  readonly takesPrefill: boolean;
  /** Fetches images and files by URL. */
  readonly takesUrls: boolean;
  readonly takesAudio: boolean;
  /** Tool results may contain images; otherwise they follow. */
  readonly takesMediaInResults: boolean;
  readonly searchesWeb: boolean;
  /** Placeholder for empty results. */
  readonly emptyResult: string;
}

const MAX_STOPS = 5;
const DEFAULT_EFFORTS: readonly Effort[] = ['low', 'medium', 'high'];
/** All models with budgets except the largest can disable reasoning. */
const DEFAULT_EFFORTS_BY_BUDGET: readonly Effort[] = ['none', ...DEFAULT_EFFORTS];

/** Defaults are accepted by every model. */
export function geminiFlags({ flags }: UpstreamTarget): GeminiFlags {
  const thinkingMode = thinkingModeOf(flags);
  const efforts = effortsOf(flags, thinkingMode);
  return {
    thinkingMode,
    efforts: efforts.filter((effort) => effort !== 'none'),
    canDisableThinking: thinkingMode === 'budget' && efforts.includes('none'),
    takesSampling: flags['samplingFixed'] !== true,
    takesPenalties: flags['samplingFixed'] !== true && flags['penalties'] === true,
    stopMax: typeof flags['stopMax'] === 'number' ? flags['stopMax'] : MAX_STOPS,
    takesFormats: formatsOf(flags['structuredOutput']),
    takesPrefill: flags['prefill'] !== false,
    takesUrls: flags['imageUrl'] !== false,
    takesAudio: flags['audio'] === true,
    takesMediaInResults: flags['resultMedia'] === true,
    searchesWeb: flags['hostedWebSearch'] === true,
    emptyResult: flags['emptyToolResultText'] === true ? '(no output)' : '',
  };
}

const THINKING_MODES: readonly unknown[] = ['level', 'budget', 'none'] satisfies GeminiThinkingMode[];

/** A model that is only marked as reasoning is assumed to be current. */
function thinkingModeOf({ thinkingMode, reasoning = false }: UpstreamTarget['flags']): GeminiThinkingMode {
  if (THINKING_MODES.includes(thinkingMode)) return thinkingMode as GeminiThinkingMode;
  return reasoning === false ? 'none' : 'level';
}

function effortsOf({ efforts }: UpstreamTarget['flags'], mode: GeminiThinkingMode): readonly Effort[] {
  if (Array.isArray(efforts)) return efforts.filter((effort) => typeof effort === 'string');
  return mode === 'budget' ? DEFAULT_EFFORTS_BY_BUDGET : DEFAULT_EFFORTS;
}

function formatsOf(flag: unknown): GeminiFlags['takesFormats'] {
  if (flag === false) return 'never';
  return flag === 'alone' ? 'alone' : 'always';
}
