import type { BuildContext, CacheMark, CallContent, ToolNames, TreeObject, UpstreamTarget } from '../contract/index.js';
import type { MessagesFlags } from './flags.js';

/** Context of building one request. */
export interface RequestBuild extends BuildContext {
  readonly target: UpstreamTarget;
  readonly flags: MessagesFlags;
  readonly names: ToolNames;
  readonly marks: CacheMarks;
}

const MAX_MARKS = 4;
/** Other protocols have other lifetimes. */
const LIFETIMES: readonly unknown[] = ['5m', '1h'];

/** Cache breakpoints of a prompt. The protocol allows four: the last ones reach furthest. */
export class CacheMarks {
  private surplus: number;

  constructor(content: CallContent) {
    this.surplus = countMarks(content) - MAX_MARKS;
  }

  /** The breakpoint member of a block. Call once per part, in prompt order. */
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

/** Number of marked parts. */
export function countMarks({ tools, lead, turns }: CallContent): number {
  const parts = turns.flatMap((turn) => turn.parts);
  const nested = parts.flatMap((part) => (part.kind === 'tool-result' ? part.parts : []));
  return [...tools, ...lead, ...parts, ...nested].filter((part) => 'cache' in part && part.cache !== undefined).length;
}
