import { RawJson } from '../contract/index.js';

// Tools that Messages knows by a type of their own: what they take is not in the request, models of the vendor know it.
// Others are told by the definitions here.

interface VendorTool {
  readonly description: string;
  readonly schema: RawJson;
}

const TEXT = { type: 'string' } as const;
const WHOLE_NUMBER = { type: 'integer' } as const;

/** Members that the tools which edit text have in common. */
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

/** Those that the vendor itself runs. */
const HOSTED = /^(?:web_search|web_fetch|code_execution|tool_search_tool\w*|advisor)$/;
const DATED = /_\d{8}$/;

/** A typed tool: what the client runs, what the vendor runs, or neither. @param type `bash_20250124` */
export function vendorTool(type: string): VendorTool | { readonly hosted: string } | undefined {
  const name = type.replace(DATED, '');
  if (name === 'web_search') return { hosted: name };
  return HOSTED.test(name) ? { hosted: type } : CLIENT_TOOLS.get(name);
}
