import {
  withoutRootCombinators,
  type CallContent,
  type CallEvent,
  type TreeObject,
  type UpstreamTarget,
} from '../contract/index.js';
import { requestedThinking } from './messages.build-thinking.js';
import { messagesFlags, type MessagesFlags } from './messages.flags.js';

// Where a model cannot be bound to a schema for its answer, it is made to call a tool of that schema: what it writes as
// the tool's arguments is the answer.

export const RESPOND = 'respond';
export const FORCED_RESPOND: TreeObject = { type: 'tool', name: RESPOND };

/** Whether an answer comes in this way. With other tools, or thoughts, no tool can be forced. */
export function respondsByTool({ format, tools, hostedTools, reasoning }: CallContent, flags: MessagesFlags): boolean {
  if (flags.takesFormats || format.kind !== 'schema' || tools.length + hostedTools.length > 0) return false;
  const mode = flags.thinkingMode;
  if (mode === 'always' || (mode !== 'none' && requestedThinking(reasoning) === 'on')) return false;
  return format.schema.value['type'] === 'object' && withoutRootCombinators(format.schema) === undefined;
}

/** The call of the tool as the text that the client asked for. */
const asText = (event: CallEvent): CallEvent => {
  switch (event.type) {
    case 'part-start':
      return isRespond(event.start) ? { type: 'part-start', start: { kind: 'text' } } : event;
    case 'part-end':
      return event.part.kind === 'tool-call' && isRespond(event.part)
        ? { type: 'part-end', part: { kind: 'text', text: event.part.arguments } }
        : event;
    case 'call-stop':
      return event.reason === 'tool_calls' ? { type: 'call-stop', reason: 'end' } : event;
    default:
      return event;
  }
};

const isRespond = (call: { readonly kind: string; readonly name?: string }): boolean =>
  call.kind === 'tool-call' && call.name === RESPOND;

/** What each event of an answer says: the event itself, where answers do not come by the tool. */
export const answerOf = (content: CallContent, target: UpstreamTarget): ((event: CallEvent) => CallEvent) =>
  respondsByTool(content, messagesFlags(target)) ? asText : (event) => event;
