import type { CallContent, Tool, ToolChoice, TreeObject, TreeReader } from '../contract/index.js';

/** Legacy functions need a legacy response. */
export const isLegacy = ({ functions, tools }: TreeObject): boolean =>
  Array.isArray(functions) && !Array.isArray(tools);

/** @throws AppError naming the member */
export function readRequestedTools(request: TreeReader): Pick<CallContent, 'tools' | 'toolChoice' | 'parallelTools'> {
  const tools = [
    ...request.children('tools').map(readTool),
    ...request.children('functions').map((definition) => readFunction(definition)),
  ];
  const known = new Set(tools.map(({ name }) => name));
  const toolChoice = request.has('tool_choice') ? readChoice(request, known) : readLegacyChoice(request, known);
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

/** @param tool the enclosing object; legacy functions have none */
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

function readChoice(request: TreeReader, known: ReadonlySet<string>): ToolChoice {
  const choice = request.value('tool_choice');
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { mode: choice };
  if (typeof choice === 'string') throw request.malformed('tool_choice', 'must be "auto", "none" or "required"');
  const chosen = request.requiredChild('tool_choice');
  const type = chosen.word('type');
  switch (type) {
    case 'function':
    case 'custom':
      return { mode: 'one', name: nameOf(chosen.requiredChild(type), known) };
    case 'allowed_tools':
      return readAllowed(chosen.requiredChild('allowed_tools'), known);
    default:
      throw chosen.malformed('type', 'must be "function", "custom" or "allowed_tools"');
  }
}

function readAllowed(allowed: TreeReader, known: ReadonlySet<string>): ToolChoice {
  const mode = allowed.word('mode');
  if (mode !== 'auto' && mode !== 'required') throw allowed.malformed('mode', 'must be "auto" or "required"');
  const names = allowed.children('tools').map((tool) => {
    const type = tool.word('type');
    if (type !== 'function' && type !== 'custom') throw tool.malformed('type', 'must be "function" or "custom"');
    return nameOf(tool.requiredChild(type), known);
  });
  return { mode, allowed: names };
}

function readLegacyChoice(request: TreeReader, known: ReadonlySet<string>): ToolChoice {
  const choice = request.value('function_call') ?? 'auto';
  if (choice === 'auto' || choice === 'none') return { mode: choice };
  if (typeof choice === 'string') throw request.malformed('function_call', 'must be "auto" or "none"');
  return { mode: 'one', name: nameOf(request.requiredChild('function_call'), known) };
}

function nameOf(reference: TreeReader, known: ReadonlySet<string>): string {
  const name = reference.word('name');
  if (known.has(name)) return name;
  throw reference.malformed('name', 'must be the name of a tool in this request');
}
