import type { BuildContext, CacheMark, CallContent, ToolNames, TreeObject, UpstreamTarget } from '../contract/index.js';
import type { MessagesFlags } from './flags.js';

/** What every part of one request is built with. */
export interface RequestBuild extends BuildContext {
  readonly target: UpstreamTarget;
  readonly flags: MessagesFlags;
  readonly names: ToolNames;
  readonly marks: CacheMarks;
}

const MAX_MARKS = 4;
/** Other dialects have other times. */
const LIFETIMES: readonly unknown[] = ['5m', '1h'];

/** The marks of one prompt, of which the dialect allows four: the last ones stay, which reach furthest. */
export class CacheMarks {
  private surplus: number;

  constructor(content: CallContent) {
    this.surplus = countMarks(content) - MAX_MARKS;
  }

  /** The member that marks a block, if its part is marked. Asked once for each part, in the order of the prompt. */
  on({ cache }: { readonly cache?: CacheMark | undefined }): { readonly cache_control?: TreeObject } {
    if (cache === undefined) return {};
    this.surplus -= 1;
    return this.surplus >= 0 ? {} : { cache_control: markOf(cache.ttl) };
  }
}

export const markOf = (ttl?: string): TreeObject => ({
  type: 'ephemeral',
  ttl: LIFETIMES.includes(ttl) ? ttl : undefined,
});

/** How many parts of a prompt are marked. */
export function countMarks({ tools, lead, turns }: CallContent): number {
  const parts = turns.flatMap((turn) => turn.parts);
  const nested = parts.flatMap((part) => (part.kind === 'tool-result' ? part.parts : []));
  return [...tools, ...lead, ...parts, ...nested].filter((part) => 'cache' in part && part.cache !== undefined).length;
}
