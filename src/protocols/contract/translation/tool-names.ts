import { createHash } from 'node:crypto';
import type { Call } from '../call.js';
import type { CallContent, HostedTool, Tool } from './content.js';
import { type TranslationWarnings, unsupported } from './warnings.js';

/** The client's tool behind a wire name. */
export type KnownTool = Pick<Tool, 'name' | 'namespace' | 'freeform'>;

const SEPARATOR = '__';

/** Maps tools to names that the upstream accepts, consistently in definitions, history and responses. */
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

  wireName(name: string, namespace?: string): string {
    return this.wireNames.get(keyOf(name, namespace)) ?? conforming(joinedName(name, namespace), this.rule);
  }

  /** The name itself if the model invented it. */
  toolOf(wireName: string): KnownTool {
    return this.tools.get(wireName) ?? { name: wireName };
  }

  /** A digest distinguishes conflicting names. */
  private add(tool: Tool): void {
    const { name, namespace } = tool;
    const defaultName = conforming(joinedName(name, namespace), this.rule);
    const wireName = this.tools.has(defaultName)
      ? conforming(`${joinedName(name, namespace)}\0${namespace ?? ''}`, this.rule)
      : defaultName;
    this.tools.set(wireName, tool);
    this.wireNames.set(keyOf(name, namespace), wireName);
  }
}

/** The name of a tool in protocols without namespaces. */
export const joinedName = (name: string, namespace: string | undefined): string =>
  namespace === undefined ? name : `${namespace}${SEPARATOR}${name}`;

const keyOf = (name: string, namespace = ''): string => `${namespace}\0${name}`;

/** The prefix and 32 hexadecimal digits. */
export const newResponseId = ({ id }: Call, prefix: string): string => prefix + id.replace(/^req_/, '');

/** @param index position in the response */
export const itemId = (call: Call, prefix: string, index: number): string =>
  `${newResponseId(call, prefix)}${index.toString(16).padStart(4, '0')}`;

export interface NameRule {
  readonly maxLength: number;
  /** Matches invalid characters; global. */
  readonly invalid: RegExp;
}

const PLAIN_USER = /^[\w.:@-]{1,64}$/;

/** Some clients put more into the user name than other protocols allow, or a third party should see. */
export const plainUser = (user: string): string =>
  PLAIN_USER.test(user) ? user : createHash('sha256').update(user).digest('hex');

const DIGEST_LENGTH = 8;

/** Invalid names are replaced by a deterministic, valid one with a digest. */
export function conforming(name: string, { maxLength, invalid }: NameRule): string {
  const clean = name.replaceAll(invalid, '_');
  if (clean === name && name.length <= maxLength && name !== '') return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, DIGEST_LENGTH);
  return `${clean.slice(0, maxLength - DIGEST_LENGTH - 1)}_${digest}`;
}

export function allowedTools({ tools, toolChoice }: Pick<CallContent, 'tools' | 'toolChoice'>): readonly Tool[] {
  if (toolChoice.mode === 'one' || toolChoice.allowed === undefined) return tools;
  const allowed = new Set(toolChoice.allowed);
  return tools.filter(({ name }) => allowed.has(name));
}

/**
 * Leaves out hosted tools that this upstream does not run.
 * @throws AppError invalid_request when no tool is left, or the key is strict
 */
export function supportedHostedTools(
  { tools, hostedTools }: Pick<CallContent, 'tools' | 'hostedTools'>,
  runs: (tool: HostedTool) => boolean,
  warnings: TranslationWarnings,
): readonly HostedTool[] {
  const run = hostedTools.filter(runs);
  for (const tool of hostedTools) {
    if (runs(tool)) continue;
    if (tools.length + run.length === 0)
      throw unsupported(tool.path, `is the hosted tool ${tool.type}, which the upstream of this model does not run`);
    warnings.warn('unsupported_tool', tool.path);
  }
  return run;
}
