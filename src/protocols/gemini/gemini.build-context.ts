import type { BuildContext, NameRule, ToolNames, UpstreamTarget } from '../contract/index.js';
import type { GeminiFlags } from './gemini.flags.js';

/** What every part of one request is built with. */
export interface RequestBuild extends BuildContext {
  readonly target: UpstreamTarget;
  readonly flags: GeminiFlags;
  readonly names: ToolNames;
}

/** Names of functions begin with a letter or an underscore. */
export const FUNCTION_NAMES: NameRule = { maxLength: 64, odd: /^[^A-Za-z_]|[^A-Za-z0-9_-]/g };
