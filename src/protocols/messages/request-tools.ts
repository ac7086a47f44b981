import {
  type HostedTool,
  malformed,
  RawJson,
  type Tool,
  type ToolChoice,
  type TreeReader,
  unsupported,
  writeJson,
} from '../contract/index.js';
import { cacheOf, isToolChange, TOOL_ADDITION } from './request-blocks.js';

/** Default type: described by the client. */
const CUSTOM = 'custom';
/** Longer examples are dropped. */
const MAX_EXAMPLES_LENGTH = 2000;

interface RequestedTools {
  readonly tools: readonly Tool[];
  readonly hostedTools: readonly HostedTool[];
  readonly toolChoice: ToolChoice;
  readonly parallelTools: boolean | undefined;
}

/** Those that the model can use now: the conversation may load, add and remove tools. */
export function readTools(request: TreeReader): RequestedTools {
  const offered = new OfferedTools(request.children('tools').map(readDefinition));
  for (const message of request.children('messages')) readChanges(message, offered);
  const { tools, hostedTools } = offered;
  const choice = request.child('tool_choice');
  return {
    tools,
    hostedTools,
    toolChoice: choice === undefined ? { mode: 'auto' } : readChoice(choice, tools),
    parallelTools: choice?.boolean('disable_parallel_tool_use') === true ? false : undefined,
  };
}

type Definition = { readonly name: string; readonly isDeferred: boolean } & (
  { readonly tool: Tool } | { readonly hosted: HostedTool }
);

function readDefinition(fields: TreeReader): Definition {
  const type = fields.string('type') ?? CUSTOM;
  const known = type === CUSTOM ? readTool(fields) : vendorTool(type);
  if (known === undefined) throw unsupported(fields.pathOf('type'), `"${type}" is supported only by its own vendor`);
  const isDeferred = fields.boolean('defer_loading') === true;
  if ('hosted' in known) {
    const hosted = { type: known.hosted, maxUses: fields.integer('max_uses', { min: 1 }), path: fields.path };
    return { name: fields.string('name') ?? type, isDeferred, hosted };
  }
  const name = fields.word('name');
  return { name, isDeferred, tool: { ...known, name, cache: cacheOf(fields), path: fields.path } };
}

/** Deferred tools are offered once something refers to them, or from the start if only the vendor could find them. */
class OfferedTools {
  private readonly defined: Map<string, Definition>;
  private offered: Map<string, Definition>;

  constructor(private readonly declared: readonly Definition[]) {
    this.defined = new Map(declared.map((definition) => [definition.name, definition]));
    this.offered = this.declaredOnes();
  }

  get tools(): readonly Tool[] {
    return [...this.offered.values()].flatMap((definition) => ('tool' in definition ? [definition.tool] : []));
  }

  get hostedTools(): readonly HostedTool[] {
    return [...this.offered.values()].flatMap((definition) => ('hosted' in definition ? [definition.hosted] : []));
  }

  knows(name: string): boolean {
    return this.defined.has(name);
  }

  define(definition: Definition): void {
    this.defined.set(definition.name, definition);
    this.offered.set(definition.name, definition);
  }

  add(name: string): void {
    const definition = this.defined.get(name);
    if (definition !== undefined && !this.offered.has(name)) this.offered.set(name, definition);
  }

  remove(name: string): void {
    this.offered.delete(name);
  }

  /** As before the conversation. */
  reset(): void {
    this.offered = this.declaredOnes();
  }

  private declaredOnes(): Map<string, Definition> {
    const searches = this.declared.some((one) => 'hosted' in one && one.hosted.type.startsWith(TOOL_SEARCH));
    const first = this.declared.filter(({ isDeferred }) => searches || !isDeferred);
    return new Map(first.map((definition) => [definition.name, definition]));
  }
}

function readChanges(message: TreeReader, offered: OfferedTools): void {
  if (!Array.isArray(message.value('content'))) return;
  for (const block of message.children('content')) {
    const type = block.value('type');
    if (type === 'tool_result') loadFound(block, offered);
    else if (type === 'compaction') repeatChanges(block, offered);
    else if (isToolChange(block)) applyChange(block, offered);
  }
}

/** Tools that the client's own search found. */
function loadFound(result: TreeReader, offered: OfferedTools): void {
  if (!Array.isArray(result.value('content'))) return;
  for (const found of result.children('content'))
    if (found.value('type') === 'tool_reference') offered.add(found.word('tool_name'));
}

/** All changes that the summary replaces. */
function repeatChanges(compaction: TreeReader, offered: OfferedTools): void {
  if (!compaction.has('tool_changes')) return;
  offered.reset();
  for (const change of compaction.children('tool_changes')) applyChange(change, offered);
}

/** @throws AppError naming the tool when it is unknown, or not the client's */
function applyChange(change: TreeReader, offered: OfferedTools): void {
  const tool = change.requiredChild('tool');
  const type = tool.word('type');
  const isAddition = change.value('type') === TOOL_ADDITION;
  if (type === 'tool_definition' && isAddition) return offered.define(readDefinition(tool.requiredChild('definition')));
  if (type !== 'tool_reference')
    throw unsupported(tool.pathOf('type'), `"${type}" is supported only by its own vendor`);
  const name = tool.word('name');
  if (!offered.knows(name)) throw malformed(tool.pathOf('name'), 'must be the name of a tool of this request');
  if (isAddition) offered.add(name);
  else offered.remove(name);
}

/** A custom tool without name and breakpoint. */
function readTool(fields: TreeReader): Pick<Tool, 'description' | 'schema' | 'strict'> {
  const texts = [fields.string('description') ?? '', examplesOf(fields)];
  return {
    description: texts.filter((text) => text !== '').join('\n\n') || undefined,
    schema: fields.raw('input_schema'),
    strict: fields.boolean('strict'),
  };
}

/** For protocols that only have a description for them. */
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

// Typed client tools: the vendor's models know their parameters, others get these definitions.

interface VendorTool {
  readonly description: string;
  readonly schema: RawJson;
}

const TEXT = { type: 'string' } as const;
const WHOLE_NUMBER = { type: 'integer' } as const;

const EDITING = {
  path: TEXT,
  file_text: { ...TEXT, description: 'The content of the file to create.' },
  old_str: { ...TEXT, description: 'The text to replace; it must occur in the file exactly once.' },
  new_str: { ...TEXT, description: 'The replacement text.' },
  insert_line: {
    ...WHOLE_NUMBER,
    description: 'The line after which the text is inserted; 0 is the start of the file.',
  },
  insert_text: { ...TEXT, description: 'The text to insert.' },
  view_range: {
    type: 'array',
    items: WHOLE_NUMBER,
    description: 'The first and the last line to view; -1 is the end.',
  },
} as const;

const command = (...names: readonly string[]): object => ({ ...TEXT, enum: names });

const tool = (description: string, properties: object, required: readonly string[]): VendorTool => ({
  description,
  schema: new RawJson(JSON.stringify({ type: 'object', properties, required })),
});

const CLIENT_TOOLS: ReadonlyMap<string, VendorTool> = new Map([
  [
    'bash',
    tool(
      'Runs a command in a persistent bash session. Pass either command or restart.',
      { command: TEXT, restart: { type: 'boolean', description: 'Starts a new session instead.' } },
      [],
    ),
  ],
  [
    'text_editor',
    tool(
      'Views, creates and edits text files.',
      { command: command('view', 'create', 'str_replace', 'insert', 'undo_edit'), ...EDITING },
      ['command', 'path'],
    ),
  ],
  [
    'memory',
    tool(
      'Stores files under /memories that persist between conversations.',
      {
        command: command('view', 'create', 'str_replace', 'insert', 'delete', 'rename'),
        ...EDITING,
        old_path: TEXT,
        new_path: TEXT,
      },
      ['command'],
    ),
  ],
]);

const TOOL_SEARCH = 'tool_search_tool';
const HOSTED = /^(?:web_search|web_fetch|code_execution|tool_search_tool\w*|advisor)$/;
const DATED = /_\d{8}$/;

/** Undefined if unknown. @param type `bash_20250124` */
function vendorTool(type: string): VendorTool | { readonly hosted: string } | undefined {
  const name = type.replace(DATED, '');
  if (name === 'web_search') return { hosted: name };
  return HOSTED.test(name) ? { hosted: type } : CLIENT_TOOLS.get(name);
}
