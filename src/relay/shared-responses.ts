import { ResponseIncomplete, KeyOfAnotherRequest } from './shared-response.errors.js';
import type { SharedResponse } from './shared-response.js';

interface Running {
  readonly fingerprint: string;
  readonly answer: SharedResponse;
}

/** The calls of this process that run under a name of their client's, by API key and that name. */
export class SharedResponses {
  private readonly running = new Map<string, Running>();

  /**
   * The answer of the call that runs under this name; undefined when none does.
   * @throws KeyOfAnotherRequest, AnswerNotWhole
   */
  find(name: string, fingerprint: string): SharedResponse | undefined {
    const running = this.running.get(name);
    if (running === undefined) return undefined;
    const { answer } = running;
    if (running.fingerprint !== fingerprint) throw new KeyOfAnotherRequest(answer.callId);
    if (answer.whyPartial !== undefined) throw new ResponseIncomplete(answer.callId, answer.whyPartial);
    return answer;
  }

  /** From here on the call runs under this name, until it ends. */
  add(name: string, fingerprint: string, answer: SharedResponse): void {
    this.running.set(name, { fingerprint, answer });
    void answer.over.then(() => this.running.delete(name));
  }
}
