/** The relay that the fault matrix asks: for each protocol of an upstream, channels that fail and channels that do not. */

import type { HealthLimits } from '../../src/relay/routing/health/cooldown.js';
import { PROTOCOLS, PATHS } from '../support/protocols.js';
import { deadUrl } from '../support/ports.js';
import { prose } from '../support/prose.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import type { ProtocolEndpoint, JsonObject, RecordedRequest, Script } from '../support/scripted-upstream.js';
import type { Pair } from '../support/pairs.js';
import { PROMPT_TOKENS, secondResponse } from './fault-scripts.js';
import type { EntryError } from './faults.js';

/** One call of the matrix. */
export interface Cell extends Omit<Pair, 'model'> {
  readonly fault: EntryError;
  /** The client wants a stream. */
  readonly stream: boolean;
  /** Behind the channel that fails there is one that does not. */
  readonly isDouble: boolean;
}

export interface MatrixCall {
  readonly response: Response;
  readonly caller: TestCaller;
  /** What reached the upstream, in order. */
  readonly requests: readonly RecordedRequest[];
}

type Kind = 'usual' | NonNullable<EntryError['channels']>;
const KINDS: readonly Kind[] = ['usual', 'hasty', 'dead'];

const modelOf = (kind: Kind, upstream: ProtocolEndpoint, isDouble: boolean): string =>
  `${kind}-${isDouble ? 'two' : 'one'}-${upstream}`;

/** Of the first channel or the second. */
export const channelOf = ({ fault, upstream }: Cell, which: 'first' | 'second'): string =>
  `${which}-${kindOf(fault)}-${upstream}`;

const kindOf = ({ channels }: EntryError): Kind => channels ?? 'usual';

const NAMES = KINDS.flatMap((kind) =>
  PROTOCOLS.flatMap((protocol) => [true, false].map((isDouble) => modelOf(kind, protocol, isDouble))),
);

/** Longer than the event loop may stand still, as its timers are counted, and no longer than a test can wait. */
const HASTY_MS = 1200;

const catalog = (live: string, dead: string): string => `
models:
${NAMES.map(
  (name) =>
    `  - { name: ${name}, context_window: 200000, max_output_tokens: 64000, prices: [{ input: 1, output: 10 }] }`,
).join('\n')}
channels:
${KINDS.flatMap((kind) =>
  PROTOCOLS.flatMap((protocol) => [
    channel(`first-${kind}-${protocol}`, protocol, kind === 'dead' ? dead : live, [
      'tier: 1',
      `models: [${modelOf(kind, protocol, false)}, ${modelOf(kind, protocol, true)}]`,
      ...(kind === 'hasty' ? [`timeouts: { first_event_ms: ${HASTY_MS}, idle_ms: ${HASTY_MS} }`] : []),
    ]),
    channel(`second-${kind}-${protocol}`, protocol, live, [
      'tier: 2',
      'headers: { x-second: "yes" }',
      `models: [${modelOf(kind, protocol, true)}]`,
    ]),
  ]),
).join('\n')}
`;

const channel = (name: string, protocol: ProtocolEndpoint, url: string, rest: readonly string[]): string =>
  `  - { name: ${name}, protocol: ${protocol}, base_url: "${url}", credentials: [upstream-secret], ${rest.join(', ')} }`;

export class MatrixRelay {
  /** What is due for all calls so far at least and at most, in nanos. */
  readonly due = { least: 0n, most: 0n };
  private readonly cells: { readonly cell: Cell; readonly requests: RecordedRequest[] }[] = [];

  private constructor(readonly relay: RelayApp) {
    relay.upstream.script((request) => this.play(request));
  }

  /** @param health when channels are left alone; never unless given */
  static async start(health?: Partial<HealthLimits>): Promise<MatrixRelay> {
    // Longer than the event loop of a busy machine may stand still.
    const relay = await RelayApp.start({ preludeMs: 20_000, lingerMs: 20_000 }, {}, undefined, health);
    await relay.applyCatalog(catalog(relay.upstream.url, await deadUrl()));
    return new MatrixRelay(relay);
  }

  /** Asks what the cell says; the response is still to be read. */
  async ask(cell: Cell): Promise<MatrixCall> {
    const number = this.cells.length;
    const requests: RecordedRequest[] = [];
    this.cells.push({ cell, requests });
    const caller = await this.relay.caller();
    const { client, upstream, stream, isDouble, fault } = cell;
    const body = requestOf(client, stream, `cell-${number}${prose(PROMPT_TOKENS - 2).join('')}`);
    const model = modelOf(kindOf(fault), upstream, isDouble);
    const response = await this.relay.post(PATHS[client], caller.key, { ...body, model });
    return { response, caller, requests };
  }

  /** Many calls run at a time: which one a request belongs to stands in its prompt. */
  private play(request: RecordedRequest): Script {
    const number = Number(/cell-(\d+)/.exec(request.body.toString())?.[1]);
    const { cell, requests } = this.cells[number]!;
    requests.push(request);
    const protocol = request.protocol!;
    if (request.headers['x-second'] === 'yes') return secondResponse(protocol);
    return cell.fault.play({ protocol, streamed: request.json['stream'] === true });
  }
}

function requestOf(protocol: ProtocolEndpoint, stream: boolean, content: string): JsonObject {
  if (protocol === 'responses') return { input: content, max_output_tokens: 1000, stream };
  const messages = [{ role: 'user', content }];
  if (protocol === 'messages') return { messages, max_tokens: 1000, stream };
  return { messages, max_completion_tokens: 1000, stream, ...(stream && { stream_options: { include_usage: true } }) };
}
