import { createHash } from 'node:crypto';
import type { Call } from '../call.js';
import type { CallContent, HostedTool, Tool } from './content.js';
import { notTranslatable, type TranslationWarnings } from './warnings.js';

/** Which tool of the client a name on the wire stands for. */
export type KnownTool = Pick<Tool, 'name' | 'namespace' | 'freeform'>;

const SEPARATOR = '__';

/**
 * The names that a client's tools have with an upstream which knows no namespaces or fewer names: the same for the same
 * tool, in definitions, in the history and back in the answer.
 */
export class ToolNames {
  private readonly tools = new Map<string, Tool>();
  /** By namespace and name. */
  private readonly wireNames = new Map<string, string>();

  constructor(
    tools: readonly Tool[],
    private readonly rule: NameRule,
  ) {
    for (const tool of tools) this.add(tool);
  }

  /** What the upstream knows the tool as. */
  wireName(name: string, namespace?: string): string {
    return this.wireNames.get(keyOf(name, namespace)) ?? conforming(joined(name, namespace), this.rule);
  }

  /** The tool that the upstream calls by this name; the name itself when it made one up. */
  toolOf(wireName: string): KnownTool {
    return this.tools.get(wireName) ?? { name: wireName };
  }

  /** A tool whose name is another's on the wire is told apart by a digest. */
  private add(tool: Tool): void {
    const { name, namespace } = tool;
    const usual = conforming(joined(name, namespace), this.rule);
    const wireName = this.tools.has(usual)
      ? conforming(`${joined(name, namespace)}\0${namespace ?? ''}`, this.rule)
      : usual;
    this.tools.set(wireName, tool);
    this.wireNames.set(keyOf(name, namespace), wireName);
  }
}

const joined = (name: string, namespace: string | undefined): string =>
  namespace === undefined ? name : `${namespace}${SEPARATOR}${name}`;

const keyOf = (name: string, namespace = ''): string => `${namespace}\0${name}`;

/** The id of a call's answer, as a dialect writes ids: `resp_` and 32 hexadecimal digits. */
export const newResponseId = ({ id }: Call, prefix: string): string => prefix + id.replace(/^req_/, '');

/** The id of one item of it, unlike all others. @param index of the item in the answer */
export const itemId = (call: Call, prefix: string, index: number): string =>
  `${newResponseId(call, prefix)}${index.toString(16).padStart(4, '0')}`;

/** What a dialect allows as a name or an id. */
export interface NameRule {
  readonly maxLength: number;
  /** Matches what is not allowed in it; global. */
  readonly odd: RegExp;
}

const PLAIN_USER = /^[\w.:@-]{1,64}$/;

/** Some clients put more into the name of their user than other dialects have room for, or would show to a stranger. */
export const plainUser = (user: string): string =>
  PLAIN_USER.test(user) ? user : createHash('sha256').update(user).digest('hex');

const DIGEST_LENGTH = 8;

/**
 * The name itself when the rule allows it; otherwise one that it allows, always the same: odd characters replaced, cut,
 * and told apart from all others by a digest.
 */
export function conforming(name: string, { maxLength, odd }: NameRule): string {
  const clean = name.replaceAll(odd, '_');
  if (clean === name && name.length <= maxLength && name !== '') return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, DIGEST_LENGTH);
  return `${clean.slice(0, maxLength - DIGEST_LENGTH - 1)}_${digest}`;
}

// Which of a client's tools a model is given, whatever the dialect.

/** The tools that may be called: all of them, unless the client names some. */
export function allowedTools({ tools, toolChoice }: Pick<CallContent, 'tools' | 'toolChoice'>): readonly Tool[] {
  if (toolChoice.mode === 'one' || toolChoice.allowed === undefined) return tools;
  const allowed = new Set(toolChoice.allowed);
  return tools.filter(({ name }) => allowed.has(name));
}

/**
 * The tools of the client's vendor that this upstream runs as well; the others are left out.
 * @throws AppError invalid_request when no tool is left at all, or the key is strict
 */
export function runTools(
  { tools, hostedTools }: Pick<CallContent, 'tools' | 'hostedTools'>,
  runs: (tool: HostedTool) => boolean,
  losses: TranslationWarnings,
): readonly HostedTool[] {
  const run = hostedTools.filter(runs);
  for (const tool of hostedTools) {
    if (runs(tool)) continue;
    if (tools.length + run.length === 0) throw notTranslatable(tool.path, 'is a tool that this upstream does not run');
    losses.warn('unsupported_tool', tool.path);
  }
  return run;
}
