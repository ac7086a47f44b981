import {
  type CallContent,
  ConversationBuilder,
  type Tool,
  type ToolChoice,
  type TreeObject,
  TreeReader,
} from '../../../src/protocols/contract/index.js';

/** Members whose objects are kept as text (`RawJson`): prompt caches depend on their exact bytes. */
export const RAW_MEMBERS: ReadonlySet<string> = new Set(['schema']);

/**
 * Parses a request that is translated. `TreeReader` validates members and knows their path; null counts as absent.
 * Malformed members are refused, and unknown ones ignored.
 *
 * @throws AppError invalid_request naming the member
 */
export function parseTelegram(request: TreeObject): CallContent {
  const reader = new TreeReader(request);
  const conversation = new ConversationBuilder();
  for (const line of reader.children('lines')) readLine(line, conversation);
  const { lead, turns } = conversation;
  if (turns.every(({ role }) => role !== 'user')) throw reader.malformed('lines', 'must hold a line of the user');
  return {
    lead,
    turns,
    tools: reader.children('tools').map(readTool),
    toolChoice: readChoice(reader),
    outputLimit: reader.integer('limit', { min: 1 }),
    ...UNSAID,
  };
}

/** Members of `CallContent` that Telegraph lacks. Every member must be present, so that none is forgotten. */
const UNSAID = {
  hostedTools: [],
  parallelTools: undefined,
  stop: [],
  sampling: {},
  reasoning: { show: 'none' },
  format: { kind: 'text' },
  verbosity: undefined,
  endUser: undefined,
  cacheKey: undefined,
  serviceTier: undefined,
} as const;

/** `ConversationBuilder` merges adjacent user or assistant turns, and puts leading instructions into `lead`. */
function readLine(line: TreeReader, conversation: ConversationBuilder): void {
  if (line.has('call')) {
    const [id, name] = [line.word('call'), line.word('tool')];
    conversation.addTurn('assistant', [{ kind: 'tool-call', id, name, arguments: line.string('arguments') || '{}' }]);
  } else if (line.has('result')) {
    const parts = [{ kind: 'text', text: line.string('text') ?? '' }] as const;
    const isError = line.boolean('failed') ?? false;
    conversation.addTurn('user', [{ kind: 'tool-result', id: line.word('result'), parts, isError }]);
  } else readText(line, conversation);
}

function readText(line: TreeReader, conversation: ConversationBuilder): void {
  const text = line.string('text') ?? '';
  switch (line.word('from')) {
    case 'system':
      conversation.addInstruction(text);
      return;
    case 'user':
      conversation.addTurn('user', [{ kind: 'text', text }]);
      return;
    case 'model':
      conversation.addTurn('assistant', [{ kind: 'text', text }]);
      return;
    default:
      throw line.malformed('from', 'must be "system", "user" or "model"');
  }
}

const readTool = (tool: TreeReader): Tool => ({
  name: tool.word('name'),
  description: tool.string('about'),
  schema: tool.raw('schema'),
  path: tool.path,
});

function readChoice(request: TreeReader): ToolChoice {
  const use = request.value('use') ?? 'auto';
  if (use === 'auto' || use === 'none' || use === 'required') return { mode: use };
  if (typeof use === 'string') throw request.malformed('use', 'must be "auto", "none", "required" or a tool');
  return { mode: 'one', name: request.requiredChild('use').word('tool') };
}
