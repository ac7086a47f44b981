import { AppError } from '../../platform/shared/index.js';
import {
  type Call,
  isObjectText,
  isTreeObject,
  jsonInterests,
  type JsonTree,
  newResponseId,
  parseData,
  parseJsonTree,
  RawJson,
  readJsonFields,
  type RenderedResponse,
  type ResolvedResponses,
  type ResponseStorage,
  SseSplitter,
  type TreeObject,
  writeJson,
} from '../contract/index.js';
import { ThreadNotFound } from './errors.js';
import { RAW_MEMBERS } from './request.js';

// Threads over upstreams without them: a message is stored with its conversation. What a thread is and which members
// it keeps: @anthropic-ai/sdk 1.12.0 (`BetaMessageThreadParam`, `ThreadState`).

/** Kept from the request that created the thread; must not be repeated. */
const CREATE_ONLY = ['system', 'tools'] as const;
const MEMBERS = [...CREATE_ONLY, 'messages'] as const;
/** Also finds what is sealed. */
export const KEPT = jsonInterests(...MEMBERS);
const OPENING_BRACE = 0x7b;

export const MESSAGES_STORAGE: ResponseStorage = {
  kind: 'thread',
  idOf: (call) => (call.head.store === true ? newResponseId(call, 'msg_') : undefined),
  expand,
  inputAfter,
  inputOf,
  responseIn,
};

/**
 * The whole conversation, with instructions and tools of the thread.
 * @throws AppError not_found; invalid_request for members that the thread keeps
 */
function expand({ thread, ...request }: TreeObject, { response: previous }: ResolvedResponses): TreeObject {
  const kept = previous?.input[0];
  if (previous === undefined || !isTreeObject(kept)) throw new ThreadNotFound(thread);
  const repeated = CREATE_ONLY.find((name) => (request[name] ?? undefined) !== undefined);
  if (repeated !== undefined) throw new KeptByThread(repeated);
  const messages = [...listOf(kept['messages']), ...replyOf(previous.response), ...listOf(request['messages'])];
  return { ...request, ...kept, messages };
}

/** One object, whose members are not in the requests that continue the thread. */
function inputOf({ system, tools, messages }: TreeObject): readonly JsonTree[] {
  return [{ system, tools, messages }];
}

/** The same object as text, with the conversation so far. */
function inputAfter(call: Call, { input, response }: { readonly input: string; readonly response: string }): string {
  const { fields } = call.head;
  const repeated = CREATE_ONLY.find((name) => fields.has(name));
  if (repeated !== undefined) throw new KeptByThread(repeated);
  const { messages = '[]', ...kept } = Object.fromEntries(keptMembers(Buffer.from(input.trim().slice(1, -1))));
  const own = fields.field('messages');
  const reply = writeJson(replyOf(parseJsonTree(response, RAW_MEMBERS) as TreeObject));
  const lists = [messages, reply, own === undefined ? '[]' : fields.text(own)].map((list) => list.trim().slice(1, -1));
  const conversation = lists.filter((list) => list.trim() !== '').join(',');
  const members = Object.entries({ ...kept, messages: `[${conversation}]` });
  return `{${members.map(([name, text]) => `"${name}":${text}`).join(',')}}`;
}

/** Members of a stored thread, as written. @param text as returned by `inputAfter` */
export function keptMembers(text: Uint8Array): ReadonlyMap<string, string> {
  const fields = readJsonFields(text, KEPT);
  const members = MEMBERS.flatMap((name) => {
    const field = fields.field(name);
    return field === undefined ? [] : [[name, fields.text(field)] as const];
  });
  return new Map(members);
}

const listOf = (value: JsonTree | undefined): readonly JsonTree[] =>
  Array.isArray(value) ? (value as readonly JsonTree[]) : [];

/** The stored message as part of a conversation; none if it is empty. */
function replyOf({ content }: TreeObject): readonly TreeObject[] {
  return listOf(content).length === 0 ? [] : [{ role: 'assistant', content }];
}

function responseIn(bytes: Uint8Array): RenderedResponse | undefined {
  const message = bytes[0] === OPENING_BRACE ? parsed(bytes) : streamed(bytes);
  if (message === undefined || typeof message['id'] !== 'string' || !Array.isArray(message['content']))
    return undefined;
  const { id, content } = message;
  return { id, itemIds: [], text: () => writeJson({ id, content }) };
}

function parsed(bytes: Uint8Array): TreeObject | undefined {
  try {
    const tree = parseJsonTree(Buffer.from(bytes).toString('utf8'), RAW_MEMBERS);
    return isTreeObject(tree) ? tree : undefined;
  } catch {
    // The end of a response too long to be buffered.
    return undefined;
  }
}

/** Members of deltas whose texts are pieces. */
const PIECES = ['text', 'thinking', 'signature', 'partial_json'] as const;

/** The message of a complete stream. */
function streamed(bytes: Uint8Array): TreeObject | undefined {
  const splitter = new SseSplitter();
  const blocks: Record<string, JsonTree>[] = [];
  let id: JsonTree | undefined;
  let isOver = false;
  for (const event of [...splitter.next(bytes), ...splitter.end()]) {
    const { type, message, content_block: block, delta } = (parseData(event) ?? {}) as TreeObject;
    if (type === 'message_start' && isTreeObject(message)) id = message['id'];
    if (type === 'content_block_start' && isTreeObject(block)) blocks.push({ ...block } as Record<string, JsonTree>);
    if (type === 'content_block_delta' && isTreeObject(delta)) extend(blocks.at(-1), delta);
    isOver ||= type === 'message_stop';
  }
  return isOver ? { id, content: blocks.map(completed) } : undefined;
}

function extend(block: Record<string, JsonTree> | undefined, delta: TreeObject): void {
  if (block === undefined) return;
  const name = PIECES.find((piece) => piece in delta);
  const [before, more] = name === undefined ? [] : [block[name] ?? '', delta[name]];
  if (name !== undefined && typeof before === 'string' && typeof more === 'string') block[name] = before + more;
  else Object.assign(block, delta, { type: block['type'] });
}

/** Arguments stay as written. */
function completed({ partial_json: args, ...block }: TreeObject): TreeObject {
  return typeof args === 'string' && isObjectText(args) ? { ...block, input: new RawJson(args) } : block;
}

class KeptByThread extends AppError {
  constructor(param: string) {
    super('invalid_request', `${param}: cannot be changed in an existing thread. Remove it, or start a new thread.`, {
      param,
      fault: 'invalid_value',
    });
  }
}
