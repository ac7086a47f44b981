import { conforming, type NameRule } from '../contract/index.js';

const RULE: NameRule = { maxLength: Infinity, odd: /[^a-zA-Z0-9_-]/g };

/** The ids of a conversation's tool calls on the wire: this dialect wants each once, others repeat them in later turns. */
export class ToolIds {
  private readonly taken = new Set<string>();
  /** Of each id, how often it was asked for and the calls whose result has not been. */
  private readonly known = new Map<string, { copies: number; readonly open: string[] }>();

  ofCall(id: string): string {
    const known = this.known.get(id) ?? { copies: 0, open: [] };
    const wanted = conforming(id, RULE);
    let free = wanted;
    while (this.taken.has(free)) free = `${wanted}_${(known.copies += 1) + 1}`;
    this.taken.add(free);
    this.known.set(id, known);
    known.open.push(free);
    return free;
  }

  /** Asked in the order of the calls. */
  ofResult(id: string): string {
    return this.known.get(id)?.open.shift() ?? conforming(id, RULE);
  }
}
