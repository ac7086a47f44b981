import { createHash } from 'node:crypto';
import { conforming, type Effort, type NameRule, type UpstreamTarget } from '../contract/index.js';
import { OUTPUT_LIMITS } from './head.js';

// What an upstream of this dialect can do, as its channel and its model say. There are many servers of it: what is not
// said is what nearly all of them do, so that nobody is sent what he may refuse.

type Flags = UpstreamTarget['flags'];

export interface ChatFlags {
  readonly limitName: (typeof OUTPUT_LIMITS)[number];
  /** Instructions come from a `developer`. */
  readonly developerRole: boolean;
  /** Instructions may stand within the conversation; else the user says them, between tags. */
  readonly midSystem: boolean;
  readonly customTools: boolean;
  readonly allowedTools: boolean;
  readonly hostedWebSearch: boolean;
  readonly imageUrl: boolean;
  readonly audio: boolean;
  readonly topK: boolean;
  /** `prompt_cache_key` and `verbosity` are known: members that many servers refuse, like any that they do not know. */
  readonly cacheKey: boolean;
  readonly verbosity: boolean;
  /** `temperature`, `top_p` and the like are refused. */
  readonly samplingFixed: boolean;
  readonly strictSchema: boolean;
  /** Schemas of the answer are obeyed; else it is only asked for. */
  readonly structuredOutput: boolean;
  readonly includeUsage: boolean;
  /** What stands for the result of a tool that gave none. */
  readonly emptyToolResult: string;
  readonly stopMax: number;
  /** Under which name thoughts are given back beside the calls that they led to; undefined: not at all. */
  readonly replayedReasoning: 'reasoning_content' | 'reasoning' | undefined;
  readonly efforts: readonly Effort[];
  readonly thinkTagSplit: boolean;
  toolId(id: string): string;
}

const DEFAULT_STOPS = 4;
/** Of models that think, where nobody says more. */
const DEFAULT_EFFORTS: readonly Effort[] = ['low', 'medium', 'high'];

export const chatFlags = (flags: Flags): ChatFlags => ({
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

/** Under which name this upstream knows the limit of output tokens. */
export const limitName = (flags: Flags): (typeof OUTPUT_LIMITS)[number] =>
  OUTPUT_LIMITS.find((known) => known === flags['maxTokensField']) ?? 'max_tokens';

function replayedReasoning(flags: Flags): ChatFlags['replayedReasoning'] {
  if (flags['replayReasoning'] !== true || flags['reasoningField'] === 'none') return undefined;
  return flags['reasoningField'] === 'reasoning' ? 'reasoning' : 'reasoning_content';
}

/** A server that knows of no effort may refuse a request that names one. */
function efforts(flags: Flags): readonly Effort[] {
  const said = flags['efforts'];
  if (Array.isArray(said)) return said.filter((effort) => typeof effort === 'string');
  return flags['reasoning'] === true ? DEFAULT_EFFORTS : [];
}

/** Of tools, and of schemas. */
export const TOOL_NAME: NameRule = { maxLength: 64, odd: /[^A-Za-z0-9_-]/g };
const TOOL_ID: NameRule = { maxLength: 64, odd: /[^\x21-\x7e]/g };
const NINE_ALPHANUMERICS = /^[A-Za-z0-9]{9}$/;

const nineAlphanumerics = (id: string): string =>
  NINE_ALPHANUMERICS.test(id) ? id : createHash('sha256').update(id).digest('hex').slice(0, 9);
