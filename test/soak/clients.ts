/** The clients of a soak: each calls, judges what it is answered, and calls again, until it is told to stop. */

import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { PROTOCOLS, PATHS } from '../support/protocols.js';
import { PAIRS } from '../support/pairs.js';
import type { ProtocolEndpoint, JsonObject } from '../support/scripted-upstream.js';
import { SlowReader } from '../support/slow-reader.js';
import type { SoakRandom } from './soak-random.js';
import { judge } from './judgement.js';
import { type Behaviour, TEXTS } from './soak-upstream.js';
import type { Windows } from './windows.js';

const LARGE_PROMPT = ' the quick brown fox'.repeat(15_000);
const SLOW_READERS = 2;
const READ_MS = 20_000;
const MOST_COMPLAINTS = 20;

/** Where the program is at the moment. */
export interface Target {
  readonly address: () => string;
  readonly key: string;
}

export class Clients {
  /** What each response that was whole must have cost, by its id. */
  readonly whole = new Map<string, bigint>();
  readonly complaints: string[] = [];
  complaintCount = 0;
  /** Errors while something was broken on purpose. */
  excused = 0;
  left = 0;
  private running = true;
  private readonly all: readonly Promise<void>[];

  constructor(
    private readonly target: Target,
    private readonly windows: Windows,
    private readonly chance: SoakRandom,
    count: number,
  ) {
    const clients = Array.from({ length: count }, () => this.again(() => this.call()));
    const readers = Array.from({ length: SLOW_READERS }, () => this.again(() => this.readSlowly()));
    this.all = [...clients, ...readers];
  }

  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.all);
  }

  private async again(work: () => Promise<void>): Promise<void> {
    while (this.running) {
      await work();
      await sleep(this.chance.between(5, 60));
    }
  }

  private async call(): Promise<void> {
    const { client, model } = this.chance.of(PAIRS);
    const stream = this.chance.percent(60);
    if (stream && this.chance.percent(10)) return this.leave(client, model);
    const behaviour = this.chance.percent(3) ? 'large' : this.chance.percent(30) ? 'paced' : 'small';
    const fromMs = performance.now();
    try {
      const response = await this.post(client, requestOf(client, model, stream, behaviour, this.chance.percent(5)));
      const text = await response.text();
      const judgement = judge(client, stream, response, text);
      if (judgement.kind === 'whole') return this.note(response, judgement.costNanos, judgement.text, behaviour);
      const mayBe = judgement.kind === 'error' && this.windows.excuses(fromMs, performance.now());
      if (mayBe) this.excused += 1;
      else this.complain(`${client} of ${model}${stream ? ', streamed' : ''}: ${judgement.said}`);
    } catch (error) {
      // Nobody listens while the program is started again; at any other time somebody does.
      if (this.windows.isAway(fromMs, performance.now())) this.excused += 1;
      else this.complain(`${client} of ${model}: ${inspect(error).slice(0, 500)}`);
      await sleep(200);
    }
  }

  private note(response: Response, cost: bigint, text: string, behaviour: Exclude<Behaviour, 'endless'>): void {
    const id = response.headers.get('x-request-id') ?? '';
    // While faults are on, some are harmless and say something else; what was paid for them is the same.
    const isKnown = text === TEXTS[behaviour] || text.startsWith('Alpha');
    if (!isKnown) this.complain(`${id}: another text of ${text.length} characters than that of ${behaviour}`);
    if (this.whole.has(id)) this.complain(`${id}: the id of two answers`);
    this.whole.set(id, cost);
  }

  private async leave(client: ProtocolEndpoint, model: string): Promise<void> {
    const leaving = new AbortController();
    setTimeout(() => leaving.abort(), this.chance.between(0, 300));
    const request = requestOf(client, model, true, 'endless', false);
    this.left += 1;
    await this.post(client, request, leaving.signal).then(
      (response) => response.text().catch(() => undefined),
      () => undefined,
    );
  }

  private async readSlowly(): Promise<void> {
    const client = this.chance.of(PROTOCOLS);
    const request = JSON.stringify(requestOf(client, `over-${this.chance.of(PROTOCOLS)}`, true, 'endless', false));
    const reader = new SlowReader({
      url: `${this.target.address()}${PATHS[client]}`,
      headers: { authorization: `Bearer ${this.target.key}` },
      body: request,
      bytesPerSecond: 2000,
    });
    for (let waited = 0; waited < READ_MS && this.running && reader.open; waited += 250) await sleep(250);
    reader.close();
    this.left += 1;
  }

  private post(client: ProtocolEndpoint, request: JsonObject, signal?: AbortSignal): Promise<Response> {
    return fetch(`${this.target.address()}${PATHS[client]}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.target.key}` },
      body: JSON.stringify(request),
      ...(signal && { signal }),
    });
  }

  private complain(said: string): void {
    this.complaintCount += 1;
    if (this.complaints.length < MOST_COMPLAINTS) this.complaints.push(`${new Date().toISOString()} ${said}`);
  }
}

function requestOf(
  protocol: ProtocolEndpoint,
  model: string,
  stream: boolean,
  behaviour: Behaviour,
  isLarge: boolean,
): JsonObject {
  const content = `soak-${behaviour} ${isLarge ? LARGE_PROMPT : 'Hello.'}`;
  if (protocol === 'responses') return { model, input: content, max_output_tokens: 60_000, store: false, stream };
  const messages = [{ role: 'user', content }];
  if (protocol === 'messages') return { model, messages, max_tokens: 60_000, stream };
  const usage = stream ? { stream_options: { include_usage: true } } : {};
  return { model, messages, max_completion_tokens: 60_000, stream, ...usage };
}
