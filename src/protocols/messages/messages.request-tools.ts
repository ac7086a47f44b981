import {
  malformed,
  notTranslatable,
  type HostedTool,
  type Tool,
  type ToolChoice,
  type TreeReader,
  writeJson,
} from '../contract/index.js';
import { cacheOf } from './messages.request-blocks.js';
import { vendorTool } from './messages.vendor-tools.js';

/** The type that tools have without saying so: the client describes them itself. */
const CUSTOM = 'custom';
/** Examples longer than this are not worth their place in a description. */
const MAX_EXAMPLES_LENGTH = 2000;

interface RequestedTools {
  readonly tools: readonly Tool[];
  readonly hostedTools: readonly HostedTool[];
  readonly toolChoice: ToolChoice;
  readonly parallelTools: boolean | undefined;
}

export function readTools(request: TreeReader): RequestedTools {
  const tools: Tool[] = [];
  const hostedTools: HostedTool[] = [];
  for (const fields of request.children('tools')) {
    const type = fields.string('type') ?? CUSTOM;
    const known = type === CUSTOM ? readTool(fields) : vendorTool(type);
    if (known === undefined)
      throw notTranslatable(fields.pathOf('type'), `"${type}" is supported only by its own vendor`);
    if ('hosted' in known)
      hostedTools.push({ type: known.hosted, maxUses: fields.integer('max_uses', { min: 1 }), path: fields.path });
    else tools.push({ ...known, name: fields.word('name'), cache: cacheOf(fields), path: fields.path });
  }
  const choice = request.child('tool_choice');
  return {
    tools,
    hostedTools,
    toolChoice: choice === undefined ? { mode: 'auto' } : readChoice(choice, tools),
    parallelTools: choice?.boolean('disable_parallel_tool_use') === true ? false : undefined,
  };
}

/** What the client says of a tool of its own, but its name and mark. */
function readTool(fields: TreeReader): Pick<Tool, 'description' | 'schema' | 'strict'> {
  const texts = [fields.string('description') ?? '', examplesOf(fields)];
  return {
    description: texts.filter((text) => text !== '').join('\n\n') || undefined,
    schema: fields.raw('input_schema'),
    strict: fields.boolean('strict'),
  };
}

/** Examples of the input, for dialects that have no place for them but the description. */
function examplesOf(fields: TreeReader): string {
  const examples = fields.value('input_examples');
  const text = Array.isArray(examples) ? `Examples of its input: ${writeJson(examples)}` : '';
  return text.length <= MAX_EXAMPLES_LENGTH ? text : '';
}

const MODES: ReadonlyMap<string, 'auto' | 'none' | 'required'> = new Map([
  ['auto', 'auto'],
  ['none', 'none'],
  ['any', 'required'],
]);

function readChoice(choice: TreeReader, tools: readonly Tool[]): ToolChoice {
  const type = choice.word('type');
  const mode = MODES.get(type);
  if (mode !== undefined) return { mode };
  if (type !== 'tool') throw malformed(choice.pathOf('type'), 'must be auto, any, tool or none');
  const name = choice.word('name');
  if (tools.some((tool) => tool.name === name)) return { mode: 'one', name };
  throw malformed(choice.pathOf('name'), 'must be the name of a client tool of this request');
}
