import type { AdmissionRequest, AdmissionResult } from './admission.js';

/** How long a call waits for money that running calls hold, in ms. */
const MAX_WAIT_MS = 5000;
/** So often the database is asked again: calls of other processes end as well. */
const POLL_MS = 250;
/** More calls do not wait for one wallet or key. */
const MAX_WAITING = 64;

/** One wallet or key, and the calls that wait for its money, in order of arrival. */
interface Line {
  readonly waiting: (() => void)[];
  /** Told when money has come back. */
  wake: () => void;
}

/**
 * Admits calls in turn where a wallet or key has enough for each but not for all at once. Such a call waits until others
 * have given back what they hold, for a bounded time, with nothing locked or held meanwhile; then it is refused.
 */
export class AdmissionLine {
  private readonly lines = new Map<string, Line>();
  private isClosed = false;

  /** @param place asks the database */
  constructor(private readonly place: (request: AdmissionRequest) => Promise<AdmissionResult>) {}

  /** What admission says to a call, at once or when its turn has come. @throws what `place` throws */
  async admit(request: AdmissionRequest): Promise<AdmissionResult> {
    const ahead = this.lines.size === 0 ? undefined : this.lineAhead(request);
    if (ahead !== undefined) return this.wait(ahead, request);
    const result = await this.place(request);
    return isPassing(result, request) ? this.wait(shortOf(result, request), request, result) : result;
  }

  /** Calls of the account, or of the key, have ended. */
  wake(accountId: string, keyId: string): void {
    if (this.lines.size === 0) return;
    this.lines.get(accountId)?.wake();
    this.lines.get(keyId)?.wake();
  }

  /** Nobody waits any longer. */
  close(): void {
    this.isClosed = true;
    for (const line of this.lines.values()) {
      line.wake();
      for (const next of line.waiting) next();
    }
  }

  private lineAhead({ account_id, key_id }: AdmissionRequest): string | undefined {
    return [account_id, key_id].find((name) => this.lines.has(name));
  }

  private async wait(name: string, request: AdmissionRequest, refused?: AdmissionResult): Promise<AdmissionResult> {
    const line = this.lineOf(name);
    if (this.isClosed || line.waiting.length >= MAX_WAITING) return refused ?? this.place(request);
    const untilMs = performance.now() + MAX_WAIT_MS;
    const isFirst = line.waiting.length === 0;
    let turn: () => void = () => undefined;
    const turned = new Promise<void>((resolve) => (turn = resolve));
    line.waiting.push(turn);
    try {
      // Whoever comes to the front later asks at once: the one before has just been answered.
      if (isFirst && refused !== undefined) await nextWake(line, untilMs);
      else if (!isFirst) await Promise.race([turned, elapsed(untilMs - performance.now())]);
      return await this.untilAnswered(line, request, untilMs);
    } finally {
      line.waiting.splice(line.waiting.indexOf(turn), 1);
      if (line.waiting.length === 0) this.lines.delete(name);
      else line.waiting[0]?.();
    }
  }

  private async untilAnswered(line: Line, request: AdmissionRequest, untilMs: number): Promise<AdmissionResult> {
    for (;;) {
      const result = await this.place(request);
      if (this.isClosed || !isPassing(result, request) || performance.now() >= untilMs) return result;
      await nextWake(line, untilMs);
    }
  }

  private lineOf(name: string): Line {
    const known = this.lines.get(name);
    if (known !== undefined) return known;
    const line: Line = { waiting: [], wake: () => undefined };
    this.lines.set(name, line);
    return line;
  }
}

/** Whether only running calls are in the way. */
const isPassing = ({ outcome, free, onHold }: AdmissionResult, { minimum }: AdmissionRequest): boolean =>
  (outcome === 'wallet' || outcome === 'key' || outcome === 'budget') &&
  onHold > 0n &&
  free + onHold >= BigInt(minimum);

/** Whose money is short. */
const shortOf = ({ outcome }: AdmissionResult, { account_id, key_id }: AdmissionRequest): string =>
  outcome === 'wallet' ? account_id : key_id;

function nextWake(line: Line, untilMs: number): Promise<void> {
  const woken = new Promise<void>((resolve) => (line.wake = resolve));
  return Promise.race([woken, elapsed(Math.min(POLL_MS, untilMs - performance.now()))]);
}

const elapsed = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)).unref());
