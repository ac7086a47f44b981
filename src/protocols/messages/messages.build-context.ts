import type { BuildContext, ToolNames, UpstreamTarget } from '../contract/index.js';
import type { CacheMarks } from './messages.cache-marks.js';
import type { MessagesFlags } from './messages.flags.js';

/** What every part of one request is built with. */
export interface RequestBuild extends BuildContext {
  readonly target: UpstreamTarget;
  readonly flags: MessagesFlags;
  readonly names: ToolNames;
  readonly marks: CacheMarks;
}
