import {
  ConversationBuilder,
  type TranslationWarnings,
  notTranslatable,
  type Part,
  type ToolCallPart,
  type TreeReader,
} from '../contract/index.js';
import { readContent } from './chat-completions.content-parts.js';

/** The conversation of a request. @throws AppError invalid_request naming the member at fault */
export function readConversation(messages: readonly TreeReader[], losses: TranslationWarnings): ConversationBuilder {
  const reader = new MessageReader(losses);
  for (const message of messages) reader.read(message);
  return reader.conversation;
}

/** Reads messages in order: results have to be known by the calls before them. */
class MessageReader {
  readonly conversation = new ConversationBuilder();
  /** Ids of calls of tools that take any text. */
  private readonly freeform = new Set<string>();
  /** Calls of the legacy form have no id: a result belongs to the last call of its function. */
  private readonly legacyIds = new Map<string, string>();
  private legacyCalls = 0;

  constructor(private readonly losses: TranslationWarnings) {}

  read(message: TreeReader): void {
    switch (message.word('role')) {
      case 'system':
      case 'developer':
        for (const { text } of readContent(message, 'text')) this.conversation.instruct(text);
        return;
      case 'user':
        this.conversation.say('user', readContent(message, 'image', 'audio', 'file'));
        return;
      case 'assistant':
        this.conversation.say('assistant', this.assistantParts(message));
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
    // What it once said aloud lies with its vendor, by an id.
    if (message.has('audio')) throw notTranslatable(message.pathOf('audio'), 'is stored with another vendor');
    const refusal = message.string('refusal') ?? '';
    const legacy = message.child('function_call');
    return [
      ...this.assistantContent(message),
      ...(refusal === '' ? [] : [{ kind: 'refusal' as const, text: refusal }]),
      ...message.children('tool_calls').map((call) => this.call(call)),
      ...(legacy === undefined ? [] : [this.legacyCall(legacy)]),
    ];
  }

  /** No model takes back what it has shown. */
  private assistantContent(message: TreeReader): readonly Part[] {
    return readContent(message, 'refusal', 'image', 'audio', 'file').filter((part) => {
      const isSaid = part.kind === 'text' || part.kind === 'refusal';
      if (!isSaid) this.losses.warn('unsupported_content', message.pathOf('content'));
      return isSaid;
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
    // Images have no place here by the specification; clients send them all the same.
    const parts = readContent(message, 'image', 'file').filter((part) => part.kind !== 'text' || part.text !== '');
    const isFreeform = this.freeform.has(id) || undefined;
    this.conversation.say('user', [{ kind: 'tool-result', id, parts, isError: false, isFreeform }]);
  }
}

function functionCall(id: string, call: TreeReader): ToolCallPart {
  const text = call.string('arguments') ?? '';
  return { kind: 'tool-call', id, name: call.word('name'), arguments: text.trim() === '' ? '{}' : text };
}
