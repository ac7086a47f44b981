/** Plays a script onto one HTTP response, step by step, and stops at once when the response is over. */

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';

import type { RecordedRequest } from './scripted-request.js';
import type { DisconnectKind, Script, Step } from './scripted-steps.js';

export class ScriptedPlayer {
  #chunkSize = Infinity;
  #cuts: readonly number[] = [];
  #stop: { readonly bytes: number; readonly how: 'end' | DisconnectKind } | undefined;
  /** Whether the script itself has broken the connection. */
  broken = false;

  readonly #untilOver: Promise<void>;

  /** @param over fires when the response closed, for whatever reason. */
  constructor(
    private readonly request: RecordedRequest,
    private readonly response: ServerResponse,
    private readonly over: AbortSignal,
  ) {
    this.#untilOver = new Promise((resolve) => over.addEventListener('abort', () => resolve(), { once: true }));
  }

  /** Plays the whole script and ends the response if the script did not. Rejects if a script function throws. */
  async play(script: Script): Promise<void> {
    try {
      await this.#playScript(script);
      if (!this.#isOver()) this.response.end();
    } catch (error) {
      if (!this.over.aborted) throw error;
    }
  }

  async #playScript(script: Script): Promise<void> {
    if (this.#isOver()) return;
    if (typeof script === 'function') return this.#playScript(await script(this.request));
    if (!(Symbol.iterator in script)) return this.#playStep(script);
    // Iterated lazily: a generator may go on for as long as the client stays.
    for (const part of script) {
      if (this.#isOver()) return;
      await this.#playScript(part);
    }
  }

  async #playStep(step: Step): Promise<void> {
    switch (step.type) {
      case 'head':
        this.response.writeHead(step.status, step.headers as Record<string, string | number | string[]>);
        return this.response.flushHeaders();
      case 'bytes':
        return this.#write(step.bytes);
      case 'raw':
        this.response.socket?.write(step.bytes);
        return nextTurn();
      case 'chunk-every':
        this.#chunkSize = step.size;
        return;
      case 'cut-at':
        this.#cuts = step.offsets;
        return;
      case 'stop-after':
        this.#stop = step;
        return this.#stopIfReached();
      case 'delay':
        return wait(step.ms, undefined, { signal: this.over });
      case 'wait-for':
        await Promise.race([step.until(), this.#untilOver]);
        return;
      case 'hang':
        return this.#untilOver;
      case 'destroy':
        return this.#break(step.how);
      case 'end':
        this.response.end();
        return;
      default:
        step satisfies never;
    }
  }

  async #write(content: Buffer): Promise<void> {
    const allowed = this.#stop === undefined ? content.length : this.#stop.bytes - this.request.sentBytes;
    for (const piece of this.#pieces(content.subarray(0, allowed))) {
      if (this.#isOver()) return;
      this.request.recordSent(piece);
      if (!this.response.write(piece)) await once(this.response, 'drain', { signal: this.over });
      // A turn of the event loop between writes keeps them apart on the wire too.
      else await nextTurn();
    }
    this.#stopIfReached();
  }

  /** Cuts one write according to `chunkEvery` and `cutAt`; without them it stays whole. */
  *#pieces(content: Buffer): Generator<Buffer> {
    const start = this.request.sentBytes;
    const cuts = this.#cuts.map((offset) => offset - start).filter((cut) => cut > 0 && cut < content.length);
    let from = 0;
    for (const cut of [...cuts.toSorted((left, right) => left - right), content.length]) {
      while (from < cut) {
        const to = Math.min(cut, from + this.#chunkSize);
        yield content.subarray(from, to);
        from = to;
      }
    }
  }

  #stopIfReached(): void {
    if (this.#stop === undefined || this.request.sentBytes < this.#stop.bytes) return;
    if (this.#stop.how === 'end') this.response.end();
    else this.#break(this.#stop.how);
  }

  #break(how: DisconnectKind): void {
    this.broken = true;
    if (how === 'reset') this.response.socket?.resetAndDestroy();
    else this.response.socket?.destroySoon();
  }

  #isOver(): boolean {
    return this.over.aborted || this.response.writableEnded || this.broken;
  }
}
