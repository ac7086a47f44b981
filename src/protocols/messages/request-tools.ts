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
import { cacheOf } from './request-blocks.js';

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

export function readTools(request: TreeReader): RequestedTools {
  const tools: Tool[] = [];
  const hostedTools: HostedTool[] = [];
  for (const fields of request.children('tools')) {
    const type = fields.string('type') ?? CUSTOM;
    const known = type === CUSTOM ? readTool(fields) : vendorTool(type);
    if (known === undefined) throw unsupported(fields.pathOf('type'), `"${type}" is supported only by its own vendor`);
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

const HOSTED = /^(?:web_search|web_fetch|code_execution|tool_search_tool\w*|advisor)$/;
const DATED = /_\d{8}$/;

/** Undefined if unknown. @param type `bash_20250124` */
function vendorTool(type: string): VendorTool | { readonly hosted: string } | undefined {
  const name = type.replace(DATED, '');
  if (name === 'web_search') return { hosted: name };
  return HOSTED.test(name) ? { hosted: type } : CLIENT_TOOLS.get(name);
}
