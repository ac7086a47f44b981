import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import {
  isObjectText,
  isTreeObject,
  type JsonTree,
  joinedName,
  RawJson,
  type Tool,
  type ToolCallPart,
  type ToolResultPart,
  type TreeObject,
  type TreeReader,
  writeJson,
} from '../contract/index.js';

// Tools that the protocol defines and clients run: calls and results have item types of their own. Other protocols get
// a function of the same name, whose arguments are what the model decides in a call.

interface BuiltInTool {
  /** Of item IDs. */
  readonly prefix: string;
  /** Arguments without which a call means nothing. */
  readonly required: readonly string[];
  define(definition: TreeReader): Pick<Tool, 'description' | 'schema'>;
  /** The arguments of a call, from its item. */
  argumentsOf(call: TreeReader): JsonTree;
  /** Their members in an item. Models may omit or mistype arguments, which clients report back. */
  membersOf(args: JsonObject): JsonObject;
  resultOf(output: TreeReader): Pick<ToolResultPart, 'parts' | 'isError'>;
}

const TEXT = { type: 'string' } as const;
const TEXTS = { type: 'array', items: TEXT } as const;
const COUNT = { type: 'integer' } as const;
const TIMEOUT = { ...COUNT, description: 'Max running time in milliseconds.' };

const objectOf = (properties: JsonObject, required: readonly string[]): RawJson =>
  new RawJson(JSON.stringify({ type: 'object', properties, required, additionalProperties: false }));

const SHELL_SCHEMA = objectOf(
  {
    commands: { ...TEXTS, description: 'Shell commands. Each runs by itself.' },
    timeout_ms: TIMEOUT,
    max_output_length: { ...COUNT, description: 'Max characters of output to return.' },
  },
  ['commands'],
);

const LOCAL_SHELL_SCHEMA = objectOf(
  {
    command: { ...TEXTS, description: 'The program, followed by its arguments.' },
    env: { type: 'object', additionalProperties: TEXT, description: 'Environment variables to set.' },
    working_directory: TEXT,
    user: { ...TEXT, description: 'The user to run it as.' },
    timeout_ms: TIMEOUT,
  },
  ['command'],
);

const DIFF =
  'Not for delete_file. For create_file, the whole content with "+" before each line. For update_file, hunks without ' +
  'line numbers: a line "@@", or "@@ " and a line above the change that tells where it is; then the lines of the ' +
  'hunk, each after " " (unchanged, 3 before and after a change), "-" (removed) or "+" (added).';

const PATCH_SCHEMA = objectOf(
  {
    type: { ...TEXT, enum: ['create_file', 'update_file', 'delete_file'] },
    path: { ...TEXT, description: 'Path of the file.' },
    diff: { ...TEXT, description: DIFF },
  },
  ['type', 'path'],
);

const shell: BuiltInTool = {
  prefix: 'sh_',
  required: ['commands'],
  define: (definition) => ({
    description: `Runs shell commands on the user's computer. Returns the output and outcome of each.${skillsOf(definition)}`,
    schema: SHELL_SCHEMA,
  }),
  argumentsOf: (call) => given(call.child('action')?.tree, ['commands', 'timeout_ms', 'max_output_length']),
  membersOf: ({ commands, timeout_ms: timeout, max_output_length: length }) => ({
    action: { commands: textsIn(commands), timeout_ms: countIn(timeout), max_output_length: countIn(length) },
    environment: { type: 'local' },
  }),
  resultOf: (output) => ({ parts: textParts(writeJson(output.children('output').map(commandOutput))), isError: false }),
};

const localShell: BuiltInTool = {
  prefix: 'lsh_',
  required: ['command'],
  define: () => ({ description: "Runs a program on the user's computer.", schema: LOCAL_SHELL_SCHEMA }),
  argumentsOf: (call) => {
    const { env, ...others } = call.child('action')?.tree ?? {};
    const args = given(others, ['command', 'working_directory', 'user', 'timeout_ms']);
    return isTreeObject(env) && Object.keys(env).length > 0 ? { ...args, env } : args;
  },
  membersOf: ({ command, env, working_directory: directory, user, timeout_ms: timeout }) => ({
    action: {
      type: 'exec',
      command: textsIn(command),
      env: isJsonObject(env) ? env : {},
      working_directory: textIn(directory) ?? null,
      user: textIn(user) ?? null,
      timeout_ms: countIn(timeout),
    },
  }),
  resultOf: (output) => ({ parts: textParts(output.string('output')), isError: false }),
};

const applyPatch: BuiltInTool = {
  prefix: 'apc_',
  required: ['type', 'path'],
  define: () => ({ description: "Creates, changes or deletes a file on the user's computer.", schema: PATCH_SCHEMA }),
  argumentsOf: (call) => given(call.child('operation')?.tree, ['type', 'path', 'diff']),
  membersOf: ({ type = 'update_file', path, diff }) => ({
    operation: { type, path: textIn(path) ?? '', ...(type !== 'delete_file' && { diff: textIn(diff) ?? '' }) },
  }),
  resultOf: (output) => ({
    parts: textParts(output.string('output')),
    isError: output.string('status') === 'failed',
  }),
};

/** The client's search: it describes its own tool, and later requests contain what was found. */
const toolSearch: BuiltInTool = {
  prefix: 'tsc_',
  required: [],
  define: (definition) => ({
    description: definition.string('description'),
    schema: definition.raw('parameters'),
  }),
  argumentsOf: (call) => {
    const args = call.value('arguments');
    if (typeof args === 'string' && isObjectText(args)) return new RawJson(args);
    return isTreeObject(args) ? args : {};
  },
  membersOf: (args) => ({ execution: 'client', arguments: args }),
  resultOf: (output) => {
    const names = output.children('tools').flatMap(namesIn);
    const text = names.length === 0 ? 'No tools were found.' : `These tools can be used now: ${names.join(', ')}.`;
    return { parts: textParts(text), isError: false };
  },
};

const TOOLS: ReadonlyMap<string, BuiltInTool> = new Map([
  ['shell', shell],
  ['local_shell', localShell],
  ['apply_patch', applyPatch],
  ['tool_search', toolSearch],
]);

/** Undefined if the tool has another type, or the upstream runs it. */
export function readBuiltIn(definition: TreeReader): Tool | undefined {
  const name = definition.word('type');
  const environment = definition.child('environment')?.string('type') ?? 'local';
  const isVendors =
    name === 'tool_search' ? definition.value('execution') !== 'client' : name === 'shell' && environment !== 'local';
  const tool = isVendors ? undefined : TOOLS.get(name);
  return tool && { name, ...tool.define(definition), builtIn: true, path: definition.path };
}

/** A call of a built-in tool as an item. */
export interface BuiltInCall {
  readonly prefix: string;
  readonly members: JsonObject;
  readonly lacksArguments: boolean;
}

type CallName = Pick<ToolCallPart, 'name' | 'namespace'>;

export const isBuiltIn = (tools: readonly Tool[], call: CallName): boolean => builtInTool(tools, call) !== undefined;

/** Undefined if the call is of another tool. */
export function builtInCall(tools: readonly Tool[], call: ToolCallPart): BuiltInCall | undefined {
  const tool = builtInTool(tools, call);
  if (tool === undefined) return undefined;
  const args = parsedObject(call.arguments);
  return {
    prefix: tool.prefix,
    members: { type: `${call.name}_call`, call_id: call.id, ...tool.membersOf(args ?? {}) },
    lacksArguments: args === undefined || tool.required.some((argument) => args[argument] === undefined),
  };
}

function builtInTool(tools: readonly Tool[], { name, namespace }: CallName): BuiltInTool | undefined {
  const isDefined = namespace === undefined && tools.some((tool) => tool.builtIn === true && tool.name === name);
  return isDefined ? TOOLS.get(name) : undefined;
}

const CALL = /^(shell|local_shell|apply_patch|tool_search)_(call|call_output|output)$/;

/** Items of built-in tools, read in their order. */
export class BuiltInItems {
  /** Call IDs by item ID: outputs of `local_shell` name either. */
  private readonly callIds = new Map<string, string>();
  /** Calls that the vendor ran: the following text contains their result. */
  private readonly vendors = new Set<string>();

  /** Undefined if the item is another one; null if it was run by the vendor. */
  read(item: TreeReader): ToolCallPart | ToolResultPart | null | undefined {
    const [, name = '', kind] = CALL.exec(item.string('type') ?? '') ?? [];
    const tool = TOOLS.get(name);
    if (tool === undefined) return undefined;
    return kind === 'call' ? this.readCall(name, tool, item) : this.readResult(tool, item);
  }

  private readCall(name: string, tool: BuiltInTool, item: TreeReader): ToolCallPart | null {
    const [itemId, callId] = [item.string('id'), item.string('call_id') ?? ''];
    const isVendors =
      name === 'tool_search'
        ? item.value('execution') === 'server' || callId === ''
        : (item.child('environment')?.string('type') ?? 'local') !== 'local';
    if (isVendors) {
      this.vendors.add(callId);
      return null;
    }
    const id = item.word('call_id');
    if (itemId !== undefined) this.callIds.set(itemId, id);
    return { kind: 'tool-call', id, name, arguments: writeJson(tool.argumentsOf(item)) };
  }

  private readResult(tool: BuiltInTool, item: TreeReader): ToolResultPart | null {
    const named = item.string('call_id') ?? item.string('id') ?? '';
    const id = this.callIds.get(named) ?? named;
    if (id === '' || this.vendors.has(id)) return null;
    return { kind: 'tool-result', id, ...tool.resultOf(item) };
  }
}

/** Without absent values. */
function given(values: TreeObject | undefined, names: readonly string[]): TreeObject {
  const present = names.filter((name) => (values?.[name] ?? null) !== null);
  return Object.fromEntries(present.map((name) => [name, values?.[name]]));
}

const commandOutput = (output: TreeReader): JsonTree => given(output.tree, ['stdout', 'stderr', 'outcome']);

const textParts = (text = ''): ToolResultPart['parts'] => (text === '' ? [] : [{ kind: 'text', text }]);

/** Skills on the user's computer, which the model reads like any file. */
function skillsOf(definition: TreeReader): string {
  const skills = definition.child('environment')?.children('skills') ?? [];
  const lines = skills.map(
    (skill) => `${skill.word('path')}: ${skill.word('name')}. ${skill.string('description') ?? ''}`,
  );
  return lines.length === 0 ? '' : `\n\nDirectories with instructions to read when needed:\n${lines.join('\n')}`;
}

function namesIn(found: TreeReader): readonly string[] {
  const name = found.string('name') ?? '';
  if (found.value('type') !== 'namespace') return name === '' ? [] : [name];
  return found.children('tools').map((tool) => joinedName(tool.word('name'), name));
}

function parsedObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const textsIn = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? (value as readonly unknown[]) : [value]).filter((entry) => typeof entry === 'string');

const countIn = (value: unknown): number | null => (typeof value === 'number' ? value : null);
