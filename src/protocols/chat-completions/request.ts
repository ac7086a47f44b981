import {
  type AudioPart,
  type CallContent,
  ConversationBuilder,
  type FilePart,
  type ImagePart,
  malformed,
  openAiFormat,
  openAiSchema,
  type OutputFormat,
  type ParseContext,
  type Part,
  type RefusalPart,
  type Sampling,
  sourceOf,
  stopSequences,
  type TextPart,
  type ToolCallPart,
  type TranslationWarnings,
  type TreeObject,
  TreeReader,
  unsupported,
} from '../contract/index.js';
import { OUTPUT_LIMITS, WEB_SEARCH } from './head.js';
import { readRequestedTools } from './request-tools.js';

/** Of tools, of a format, `logit_bias`. */
export const RAW_MEMBERS: ReadonlySet<string> = new Set(['parameters', 'schema', 'logit_bias']);

const MAX_LOGPROBS = 20;

/** @throws AppError invalid_request naming the member */
export function parseChatRequest(request: TreeObject, { warnings }: ParseContext): CallContent {
  const reader = new TreeReader(request);
  rejectUnsupported(reader);
  const { lead, turns } = readConversation(reader.children('messages'), warnings);
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

function rejectUnsupported(reader: TreeReader): void {
  if ((reader.integer('n') ?? 1) > 1) throw unsupported('n', 'must be 1: this upstream returns a single choice');
  if (reader.strings('modalities').includes('audio') || reader.has('audio')) {
    throw unsupported(
      reader.has('audio') ? 'audio' : 'modalities',
      'requests audio, which this upstream does not support',
    );
  }
  const policy = reader.child('moderation')?.child('policy');
  for (const side of ['input', 'output']) {
    if (policy?.child(side)?.string('mode') !== 'block') continue;
    throw unsupported(`moderation.policy.${side}.mode`, 'cannot be "block": this upstream has no moderation');
  }
}

/** The larger one if both are set, as in the call's head. */
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

/** The schema is optional: any object is valid then. */
const readFormat = (reader: TreeReader): OutputFormat =>
  openAiFormat(
    reader.child('response_format'),
    (format) => openAiSchema(format.requiredChild('json_schema')) ?? { kind: 'json' },
  );

function readConversation(messages: readonly TreeReader[], warnings: TranslationWarnings): ConversationBuilder {
  const reader = new MessageReader(warnings);
  for (const message of messages) reader.read(message);
  return reader.conversation;
}

/** Reads messages in order, so that results find their calls. */
class MessageReader {
  readonly conversation = new ConversationBuilder();
  /** IDs of calls of freeform tools. */
  private readonly freeform = new Set<string>();
  /** Legacy calls have no ID: a result belongs to the last call of its function. */
  private readonly legacyIds = new Map<string, string>();
  private legacyCalls = 0;

  constructor(private readonly warnings: TranslationWarnings) {}

  read(message: TreeReader): void {
    switch (message.word('role')) {
      case 'system':
      case 'developer':
        for (const { text } of readContent(message, 'text')) this.conversation.addInstruction(text);
        return;
      case 'user':
        this.conversation.addTurn('user', readContent(message, 'image', 'audio', 'file'));
        return;
      case 'assistant':
        this.conversation.addTurn('assistant', this.assistantParts(message));
        return;
      case 'tool':
        this.result(message, message.word('tool_call_id'));
        return;
      case 'function':
        this.result(message, this.legacyIds.get(message.word('name')) ?? message.word('name'));
        return;
      default:
        throw message.malformed('role', 'must be "system", "developer", "user", "assistant" or "tool"');
    }
  }

  private assistantParts(message: TreeReader): readonly Part[] {
    // Audio output is stored at its vendor.
    if (message.has('audio'))
      throw unsupported(message.pathOf('audio'), 'refers to audio stored with another vendor; remove it');
    const refusal = message.string('refusal') ?? '';
    const legacy = message.child('function_call');
    return [
      ...this.assistantContent(message),
      ...(refusal === '' ? [] : [{ kind: 'refusal' as const, text: refusal }]),
      ...message.children('tool_calls').map((call) => this.call(call)),
      ...(legacy === undefined ? [] : [this.legacyCall(legacy)]),
    ];
  }

  /** Images in assistant messages are dropped. */
  private assistantContent(message: TreeReader): readonly Part[] {
    return readContent(message, 'refusal', 'image', 'audio', 'file').filter((part) => {
      const isSupported = part.kind === 'text' || part.kind === 'refusal';
      if (!isSupported) this.warnings.warn('unsupported_content', message.pathOf('content'));
      return isSupported;
    });
  }

  private call(call: TreeReader): ToolCallPart {
    const id = call.word('id');
    switch (call.string('type') ?? 'function') {
      case 'function':
        return functionCall(id, call.requiredChild('function'));
      case 'custom': {
        const custom = call.requiredChild('custom');
        this.freeform.add(id);
        const input = custom.string('input') ?? '';
        return { kind: 'tool-call', id, name: custom.word('name'), arguments: input, isFreeform: true };
      }
      default:
        throw call.malformed('type', 'must be "function" or "custom"');
    }
  }

  private legacyCall(call: TreeReader): ToolCallPart {
    this.legacyCalls += 1;
    const part = functionCall(`function_call_${this.legacyCalls}`, call);
    this.legacyIds.set(part.name, part.id);
    return part;
  }

  private result(message: TreeReader, id: string): void {
    // Not in the specification, but clients send images here.
    const parts = readContent(message, 'image', 'file').filter((part) => part.kind !== 'text' || part.text !== '');
    const isFreeform = this.freeform.has(id) || undefined;
    this.conversation.addTurn('user', [{ kind: 'tool-result', id, parts, isError: false, isFreeform }]);
  }
}

function functionCall(id: string, call: TreeReader): ToolCallPart {
  const text = call.string('arguments') ?? '';
  return { kind: 'tool-call', id, name: call.word('name'), arguments: text.trim() === '' ? '{}' : text };
}

/** Parts of a message's `content`. */
type ContentPart = TextPart | ImagePart | AudioPart | FilePart | RefusalPart;

const READERS = new Map<string, (part: TreeReader) => ContentPart>([
  ['text', (part) => ({ kind: 'text', text: part.string('text') ?? '' })],
  ['refusal', (part) => ({ kind: 'refusal', text: part.string('refusal') ?? '' })],
  ['image_url', (part) => readImage(part.requiredChild('image_url'))],
  ['input_audio', (part) => readAudio(part.requiredChild('input_audio'))],
  ['file', (part) => readFile(part.requiredChild('file'))],
]);

/** @param kinds allowed kinds besides text */
function readContent<Kind extends ContentPart['kind']>(
  message: TreeReader,
  ...kinds: readonly Kind[]
): readonly (TextPart | Extract<ContentPart, { kind: Kind }>)[] {
  const content = message.value('content');
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  const isAllowed = (part: ContentPart): part is TextPart | Extract<ContentPart, { kind: Kind }> =>
    part.kind === 'text' || (kinds as readonly string[]).includes(part.kind);
  return message.children('content').map((part) => {
    const read = READERS.get(part.word('type'))?.(part);
    if (read !== undefined && isAllowed(read)) return read;
    throw part.malformed('type', 'is not allowed in a message of this role');
  });
}

function readImage(image: TreeReader): ImagePart {
  const source = sourceOf(image.word('url'));
  if (source === undefined) throw image.malformed('url', 'must be an http(s) URL or a base64 data URL');
  return { kind: 'image', source, detail: image.string('detail') };
}

const readAudio = (audio: TreeReader): AudioPart => ({
  kind: 'audio',
  format: audio.word('format'),
  base64: audio.word('data'),
});

function readFile(file: TreeReader): FilePart {
  if (file.has('file_id')) throw unsupported(file.pathOf('file_id'), 'refers to a file stored with another vendor');
  const data = file.word('file_data');
  // Bare base64 has no media type; PDF is the only common one.
  const source = sourceOf(data) ?? { from: 'data', mediaType: 'application/pdf', base64: data };
  return { kind: 'file', source, name: file.string('filename') };
}
