import { type CallContent, type Tool, type ToolChoice, type TreeObject, type TreeReader } from '../../call/index.js';

/** Whether a request is of the time before tools, and must be answered in that form. */
export const isLegacy = ({ functions, tools }: TreeObject): boolean =>
  Array.isArray(functions) && !Array.isArray(tools);

/** The tools that the client runs, and how they may be called. @throws AppError naming the member at fault */
export function readRequestedTools(request: TreeReader): Pick<CallContent, 'tools' | 'toolChoice' | 'parallelTools'> {
  const tools = [
    ...request.children('tools').map(readTool),
    ...request.children('functions').map((definition) => readFunction(definition)),
  ];
  const toolChoice = request.has('tool_choice') ? readChoice(request, tools) : readLegacyChoice(request, tools);
  // The legacy form has room for one call.
  const parallelTools = request.has('functions') ? false : request.boolean('parallel_tool_calls');
  return { tools, toolChoice, parallelTools };
}

function readTool(tool: TreeReader): Tool {
  switch (tool.word('type')) {
    case 'function':
      return readFunction(tool.requiredChild('function'), tool);
    case 'custom':
      return readCustom(tool.requiredChild('custom'), tool);
    default:
      throw tool.malformed('type', 'must be "function" or "custom"');
  }
}

/** @param tool what holds the definition; the older form has nothing around it */
const readFunction = (definition: TreeReader, { path }: TreeReader = definition): Tool => ({
  name: definition.word('name'),
  description: definition.string('description'),
  schema: definition.raw('parameters'),
  strict: definition.boolean('strict'),
  path,
});

function readCustom(custom: TreeReader, { path }: TreeReader): Tool {
  const grammar = custom.child('format')?.child('grammar');
  const freeform =
    grammar === undefined
      ? {}
      : { grammar: { syntax: grammar.word('syntax'), definition: grammar.word('definition') } };
  return { name: custom.word('name'), description: custom.string('description'), schema: undefined, freeform, path };
}

function readChoice(request: TreeReader, tools: readonly Tool[]): ToolChoice {
  const choice = request.value('tool_choice');
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { mode: choice };
  if (typeof choice === 'string') throw request.malformed('tool_choice', 'must be "auto", "none" or "required"');
  const chosen = request.requiredChild('tool_choice');
  const type = chosen.word('type');
  switch (type) {
    case 'function':
    case 'custom':
      return { mode: 'one', name: nameOf(chosen.requiredChild(type), tools) };
    case 'allowed_tools':
      return readAllowed(chosen.requiredChild('allowed_tools'), tools);
    default:
      throw chosen.malformed('type', 'must be "function", "custom" or "allowed_tools"');
  }
}

function readAllowed(allowed: TreeReader, tools: readonly Tool[]): ToolChoice {
  const mode = allowed.word('mode');
  if (mode !== 'auto' && mode !== 'required') throw allowed.malformed('mode', 'must be "auto" or "required"');
  const names = allowed.children('tools').map((tool) => {
    const type = tool.word('type');
    if (type !== 'function' && type !== 'custom') throw tool.malformed('type', 'must be "function" or "custom"');
    return nameOf(tool.requiredChild(type), tools);
  });
  return { mode, allowed: names };
}

function readLegacyChoice(request: TreeReader, tools: readonly Tool[]): ToolChoice {
  const choice = request.value('function_call') ?? 'auto';
  if (choice === 'auto' || choice === 'none') return { mode: choice };
  if (typeof choice === 'string') throw request.malformed('function_call', 'must be "auto" or "none"');
  return { mode: 'one', name: nameOf(request.requiredChild('function_call'), tools) };
}

function nameOf(reference: TreeReader, tools: readonly Tool[]): string {
  const name = reference.word('name');
  if (tools.some((tool) => tool.name === name)) return name;
  throw reference.malformed('name', 'must be the name of a tool in this request');
}
