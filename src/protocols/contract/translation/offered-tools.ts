import type { CallContent, HostedTool, Tool } from './content.js';
import { type TranslationWarnings, notTranslatable } from './warnings.js';

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
