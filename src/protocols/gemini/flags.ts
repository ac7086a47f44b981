import type { Effort, UpstreamTarget } from '../contract/index.js';

/** How a model is told to think: by a level, by a budget of tokens, or not at all. */
type ThinkingMode = 'level' | 'budget' | 'none';

/** What a model can do at an upstream of this dialect. */
export interface GeminiFlags {
  readonly thinkingMode: ThinkingMode;
  /** From the least on; what a budget stands for is an effort as well. */
  readonly efforts: readonly Effort[];
  /** It can be kept from thinking. */
  readonly canRest: boolean;
  readonly takesSampling: boolean;
  readonly takesPenalties: boolean;
  readonly stopMax: number;
  /** Answers are held to a form: whatever else is asked for, only where no tools are, or never. */
  readonly takesFormats: 'always' | 'alone' | 'never';
  readonly takesPrefill: boolean;
  /** It fetches images and files by their address. */
  readonly takesUrls: boolean;
  readonly takesAudio: boolean;
  /** Images stand in the results of tools; else behind them. */
  readonly takesMediaInResults: boolean;
  readonly searchesWeb: boolean;
  /** What stands for a result that is empty. */
  readonly emptyResult: string;
}

const MAX_STOPS = 5;
const DEFAULT_EFFORTS: readonly Effort[] = ['low', 'medium', 'high'];
/** Of models with budgets all but the largest can do without. */
const DEFAULT_EFFORTS_BY_BUDGET: readonly Effort[] = ['none', ...DEFAULT_EFFORTS];

/** The flags of a target; what is not said is what any model of this dialect takes. */
export function geminiFlags({ flags }: UpstreamTarget): GeminiFlags {
  const thinkingMode = thinkingModeOf(flags);
  const efforts = effortsOf(flags, thinkingMode);
  return {
    thinkingMode,
    efforts: efforts.filter((effort) => effort !== 'none'),
    canRest: thinkingMode === 'budget' && efforts.includes('none'),
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

const THINKING_MODES: readonly unknown[] = ['level', 'budget', 'none'] satisfies ThinkingMode[];

/** Who says of a model only that it reasons means one of today's. */
function thinkingModeOf({ thinkingMode, reasoning = false }: UpstreamTarget['flags']): ThinkingMode {
  if (THINKING_MODES.includes(thinkingMode)) return thinkingMode as ThinkingMode;
  return reasoning === false ? 'none' : 'level';
}

function effortsOf({ efforts }: UpstreamTarget['flags'], mode: ThinkingMode): readonly Effort[] {
  if (Array.isArray(efforts)) return efforts.filter((effort) => typeof effort === 'string');
  return mode === 'budget' ? DEFAULT_EFFORTS_BY_BUDGET : DEFAULT_EFFORTS;
}

function formatsOf(flag: unknown): GeminiFlags['takesFormats'] {
  if (flag === false) return 'never';
  return flag === 'alone' ? 'alone' : 'always';
}
