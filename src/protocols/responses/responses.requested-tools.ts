import { notTranslatable, type HostedTool, type Tool, type ToolChoice, type TreeReader } from '../contract/index.js';

/** Tools that the vendor runs, or that only its models know. Web search comes under many names. */
const HOSTED =
  /^(?:web_search\w*|file_search|code_interpreter|image_generation|mcp|shell|local_shell|apply_patch|tool_search|programmatic_tool_calling)$/;
const WEB_SEARCH = 'web_search';

/** @param definitions wherever in the request they stand */
export function readTools(definitions: readonly TreeReader[]): Pick<ToolSet, 'tools' | 'hostedTools'> {
  const tools: Tool[] = [];
  const hostedTools: HostedTool[] = [];
  for (const definition of definitions) {
    const type = definition.word('type');
    if (type === 'namespace') for (const tool of readNamespace(definition)) tools.push(tool);
    else if (HOSTED.test(type)) hostedTools.push({ type: hostedType(type), path: definition.path });
    else tools.push(readTool(definition));
  }
  return { tools, hostedTools };
}

interface ToolSet {
  readonly tools: readonly Tool[];
  readonly hostedTools: readonly HostedTool[];
}

const hostedType = (type: string): string => (type.startsWith(WEB_SEARCH) ? WEB_SEARCH : type);

function readNamespace(definition: TreeReader): readonly Tool[] {
  const namespace = definition.word('name');
  const namespaceDescription = definition.string('description');
  const named = { namespace, ...(namespaceDescription !== undefined && { namespaceDescription }) };
  return definition.children('tools').map((tool) => ({ ...readTool(tool), ...named }));
}

function readTool(definition: TreeReader): Tool {
  const type = definition.word('type');
  switch (type) {
    case 'function': {
      const strict = definition.boolean('strict');
      return {
        ...namedTool(definition),
        schema: definition.raw('parameters'),
        ...(strict !== undefined && { strict }),
      };
    }
    case 'custom':
      return { ...namedTool(definition), schema: undefined, freeform: freeformOf(definition.child('format')) };
    default:
      throw notTranslatable(definition.pathOf('type'), `"${type}" is not supported by the upstream`);
  }
}

function namedTool(definition: TreeReader): Pick<Tool, 'name' | 'description' | 'path'> {
  const description = definition.string('description');
  return { name: definition.word('name'), ...(description !== undefined && { description }), path: definition.path };
}

function freeformOf(format: TreeReader | undefined): NonNullable<Tool['freeform']> {
  if (format?.string('type') !== 'grammar') return {};
  return { grammar: { syntax: format.word('syntax'), definition: format.word('definition') } };
}

/** @throws AppError when it names a tool that is not there, or one that only the vendor can run */
export function readToolChoice(request: TreeReader, tools: readonly Tool[]): ToolChoice {
  if (typeof request.value('tool_choice') === 'string') return { mode: modeIn(request, 'tool_choice') };
  const choice = request.child('tool_choice');
  if (choice === undefined) return { mode: 'auto' };
  const type = choice.word('type');
  switch (type) {
    case 'function':
    case 'custom':
      return readNamedTool(choice, tools);
    case 'allowed_tools':
      return { mode: modeIn(choice, 'mode'), allowed: allowedNames(choice) };
    default:
      throw notTranslatable(choice.path, `cannot force "${type}" with this upstream`);
  }
}

function modeIn(reader: TreeReader, name: string): 'auto' | 'none' | 'required' {
  const mode = reader.word(name);
  switch (mode) {
    case 'auto':
    case 'none':
    case 'required':
      return mode;
    default:
      throw reader.malformed(name, 'must be auto, none or required');
  }
}

function readNamedTool(choice: TreeReader, tools: readonly Tool[]): ToolChoice {
  const name = choice.word('name');
  const namespace = choice.string('namespace');
  const known = tools.find((tool) => tool.name === name && (namespace === undefined || tool.namespace === namespace));
  if (known === undefined) throw choice.malformed('name', 'is not a tool of this request');
  return { mode: 'one', name, ...(known.namespace !== undefined && { namespace: known.namespace }) };
}

/** Tools of the vendor have no name here. */
const allowedNames = (choice: TreeReader): readonly string[] =>
  choice.children('tools').flatMap((tool) => tool.string('name') ?? []);
