import type { Tool } from './content.js';
import { conforming, type NameRule } from './ids.js';

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
