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

  constructor(
    tools: readonly Tool[],
    private readonly rule: NameRule,
  ) {
    for (const tool of tools) this.tools.set(this.wireName(tool.name, tool.namespace), tool);
  }

  /** What the upstream knows the tool as. */
  wireName(name: string, namespace?: string): string {
    return conforming(namespace === undefined ? name : `${namespace}${SEPARATOR}${name}`, this.rule);
  }

  /** The tool that the upstream calls by this name; the name itself when it made one up. */
  toolOf(wireName: string): KnownTool {
    return this.tools.get(wireName) ?? { name: wireName };
  }
}
