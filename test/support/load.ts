import { setTimeout as sleep } from 'node:timers/promises';
import { aRequest, PROTOCOLS, PATHS } from './protocols.js';
import { eventually, TIMEOUT_MS } from './eventually.js';
import type { RecordedRequest } from './scripted-request.js';
import {
  responseIn,
  delay,
  type JsonObject,
  type ProtocolEndpoint,
  pacedStream,
  type Script,
} from './scripted-upstream.js';

/** What ends a stream that is whole. */
const TERMINATOR: Readonly<Record<ProtocolEndpoint, RegExp>> = {
  'chat-completions': /data: \[DONE\]\n\n$/,
  messages: /event: message_stop\n.*\n\n$/,
  responses: /event: response\.completed\n.*\n\n(?:data: \[DONE\]\n\n)?$/,
};

/**
 * An upstream that takes its time over its responses: whatever is killed is in the middle of some, and clients that never
 * rest leave the machine to what starts again.
 */
export const unhurried = ({ protocol = 'chat-completions', json }: RecordedRequest): Script =>
  (json as { stream?: boolean }).stream === true
    ? pacedStream(protocol, { text: ['Hello ', 'there'] }, 50)
    : [delay(100), responseIn(protocol)];

const prompted = (protocol: ProtocolEndpoint, content: string): JsonObject =>
  protocol === 'responses' ? { input: content } : { messages: [{ role: 'user', content }] };

/**
 * Clients that call without a pause, whatever happens to the server: every protocol, streamed and not. The id of each
 * response that a client saw to its end is kept.
 */
export class Load {
  readonly complete: string[] = [];
  /** What became of each call that was not whole, and when. */
  readonly failures: { readonly at: number; readonly reason: string }[] = [];
  private running = true;
  private readonly clients: Promise<void>[];

  /**
   * @param address where the server is at the moment; none when it is empty
   * @param prompt what streams ask, if it is to be long
   */
  constructor(
    private readonly address: () => string,
    private readonly key: string,
    clients = 6,
    private readonly prompt?: string,
  ) {
    this.clients = Array.from({ length: clients }, (_, index) => this.callOn(index));
  }

  /** Resolves when so many further responses have been seen to their end. */
  async untilMore(count: number, withinMs = TIMEOUT_MS): Promise<void> {
    const enough = this.complete.length + count;
    await eventually(() => {
      if (this.complete.length < enough) throw new Error(`Only ${this.complete.length} of ${enough} answers came.`);
    }, withinMs);
  }

  private fail(reason: string): void {
    this.failures.push({ at: performance.now(), reason });
  }

  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.clients);
  }

  private async callOn(first: number): Promise<void> {
    for (let number = first; this.running; number += 1) {
      const id = await this.call(PROTOCOLS[number % PROTOCOLS.length] ?? 'responses', number % 2 === 0);
      if (id === undefined) await sleep(20);
      else this.complete.push(id);
    }
  }

  /** The call's id if its response was whole. */
  private async call(protocol: ProtocolEndpoint, stream: boolean): Promise<string | undefined> {
    try {
      const response = await fetch(`${this.address()}${PATHS[protocol]}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${this.key}` },
        body: JSON.stringify(
          aRequest(protocol, { stream, ...(stream && this.prompt !== undefined && prompted(protocol, this.prompt)) }),
        ),
      });
      const text = await response.text();
      const whole = response.ok && (stream ? TERMINATOR[protocol].test(text) : typeof JSON.parse(text) === 'object');
      if (whole) return response.headers.get('x-request-id') ?? undefined;
      this.fail(`${protocol} ${response.status} ${text.slice(-300)}`);
    } catch (error) {
      this.fail(`${protocol} ${String((error as Error).cause ?? error)}`);
    }
    return undefined;
  }
}
