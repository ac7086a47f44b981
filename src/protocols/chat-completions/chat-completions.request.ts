import {
  type CallContent,
  malformed,
  notTranslatable,
  openAiFormat,
  openAiSchema,
  type OutputFormat,
  type ParseContext,
  type Sampling,
  stopSequences,
  type TreeObject,
  TreeReader,
} from '../contract/index.js';
import { OUTPUT_LIMITS, WEB_SEARCH } from './chat-completions.head.js';
import { readRequestedTools } from './chat-completions.requested-tools.js';
import { readConversation } from './chat-completions.turns.js';

/** Members whose objects keep their text: of tools, of a format, of `logit_bias`. */
export const RAW_MEMBERS: ReadonlySet<string> = new Set(['parameters', 'schema', 'logit_bias']);

const MAX_LOGPROBS = 20;

/** What a request of this dialect asks for. @throws AppError invalid_request naming the member at fault */
export function parseChatRequest(request: TreeObject, { losses }: ParseContext): CallContent {
  const reader = new TreeReader(request);
  refuseUntranslatable(reader);
  const { lead, turns } = readConversation(reader.children('messages'), losses);
  if (!turns.some(({ role }) => role === 'user')) throw malformed('messages', 'must contain user content');
  return {
    lead,
    turns,
    ...readRequestedTools(reader),
    hostedTools: reader.child(WEB_SEARCH) === undefined ? [] : [{ type: 'web_search', path: WEB_SEARCH }],
    outputLimit: readOutputLimit(reader),
    stop: readStop(reader),
    sampling: readSampling(reader),
    reasoning: { effort: reader.string('reasoning_effort'), show: 'text' },
    format: readFormat(reader),
    verbosity: reader.string('verbosity'),
    endUser: reader.string('safety_identifier') ?? reader.string('user'),
    cacheKey: reader.string('prompt_cache_key'),
    serviceTier: reader.string('service_tier'),
  };
}

function refuseUntranslatable(reader: TreeReader): void {
  if ((reader.integer('n') ?? 1) > 1) throw notTranslatable('n', 'must be 1: this upstream returns a single choice');
  if (reader.strings('modalities').includes('audio') || reader.has('audio')) {
    throw notTranslatable(
      reader.has('audio') ? 'audio' : 'modalities',
      'requests audio, which this upstream does not support',
    );
  }
  const policy = reader.child('moderation')?.child('policy');
  for (const side of ['input', 'output']) {
    if (policy?.child(side)?.string('mode') !== 'block') continue;
    throw notTranslatable(`moderation.policy.${side}.mode`, 'cannot be "block": this upstream has no moderation');
  }
}

/** The larger one when a client sets both, as the call's head says. */
function readOutputLimit(reader: TreeReader): number | undefined {
  const limits = OUTPUT_LIMITS.map((name) => reader.integer(name, { min: 1 })).filter((limit) => limit !== undefined);
  return limits.length === 0 ? undefined : Math.max(...limits);
}

function readStop(reader: TreeReader): readonly string[] {
  const stop = reader.value('stop');
  return stopSequences(typeof stop === 'string' ? [stop] : reader.strings('stop'), 'stop');
}

function readSampling(reader: TreeReader): Sampling {
  const topLogprobs = reader.integer('top_logprobs', { min: 0, max: MAX_LOGPROBS });
  return {
    temperature: reader.number('temperature', { min: 0, max: 2 }),
    topP: reader.number('top_p', { min: 0, max: 1 }),
    presencePenalty: reader.number('presence_penalty', { min: -2, max: 2 }),
    frequencyPenalty: reader.number('frequency_penalty', { min: -2, max: 2 }),
    seed: reader.integer('seed'),
    logitBias: reader.raw('logit_bias'),
    topLogprobs: reader.boolean('logprobs') === true ? (topLogprobs ?? 0) : undefined,
  };
}

/** A schema may be left out: every object will do then. */
const readFormat = (reader: TreeReader): OutputFormat =>
  openAiFormat(
    reader.child('response_format'),
    (format) => openAiSchema(format.requiredChild('json_schema')) ?? { kind: 'json' },
  );
