import { conforming, type NameRule } from '../../call/index.js';

const RULE: NameRule = { maxLength: Infinity, odd: /[^a-zA-Z0-9_-]/g };

/** The ids of a conversation's tool calls on the wire: this dialect wants each once, others repeat them in later turns. */
export class ToolIds {
  private readonly taken = new Set<string>();
  /** Of each id, the calls whose result has not been asked for. */
  private readonly open = new Map<string, string[]>();

  ofCall(id: string): string {
    const wanted = conforming(id, RULE);
    let free = wanted;
    for (let copy = 2; this.taken.has(free); copy += 1) free = `${wanted}_${copy}`;
    this.taken.add(free);
    this.open.set(id, [...(this.open.get(id) ?? []), free]);
    return free;
  }

  /** Asked in the order of the calls. */
  ofResult(id: string): string {
    return this.open.get(id)?.shift() ?? conforming(id, RULE);
  }
}
