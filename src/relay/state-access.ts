import { Injectable, Logger } from '@nestjs/common';
import { concatMap, defer, finalize, from, map, type Observable, of } from 'rxjs';
import { type Channel, sharesState } from '../catalog/channels/index.js';
import type { Caller } from '../keys/index.js';
import { AppError, reasonOf, within } from '../platform/shared/index.js';
import {
  type Call,
  type CallSignal,
  type CreatedState,
  type Frame,
  type JsonTree,
  parseJsonTree,
  type ProtocolAdapter,
  type ScopedId,
  type StoredResponseText,
  type TreeObject,
} from '../protocols/contract/index.js';
import { type StoredResponse, type UpstreamOrigin, UpstreamStates } from './stored-responses/index.js';

/** Max delay of the response's end for recording its state. */
const TIMEOUT_MS = 2000;
/** No genuine response names more. */
const MAX_STATES_OF_CALL = 1000;

/** Controls references to upstream state: an account may name only what upstreams created for it through this relay. */
@Injectable()
export class StateAccess {
  private readonly logger = new Logger('StateAccess');

  constructor(private readonly states: UpstreamStates) {}

  /** The upstream state that a request names; undefined, without waiting, if there is none. */
  referencedBy(
    { head: { demands } }: Call,
    { accountId }: Pick<Caller, 'accountId'>,
  ): Promise<ReferencedState> | undefined {
    const [first, ...others] = demands?.scopedIds ?? [];
    return first && this.find([first, ...others], accountId);
  }

  /** Records the state created by a response before its last frame; after an abort or a failure, afterwards. */
  recorded(
    frames: Observable<Frame>,
    { head: { demands } }: Call,
    { accountId }: Pick<Caller, 'accountId'>,
    origin: UpstreamOrigin,
  ): Observable<Frame> {
    if (demands?.createsState !== true) return frames;
    return defer(() => {
      const created = new Map<string, CreatedState>();
      const record = async (): Promise<void> => {
        const states = [...created.values()];
        created.clear();
        if (states.length > 0) await this.record(accountId, origin, states);
      };
      return frames.pipe(
        concatMap((frame) => {
          collect(frame.signals, created);
          return frame.last && created.size > 0 ? from(record()).pipe(map(() => frame)) : of(frame);
        }),
        finalize(() => void record()),
      );
    });
  }

  private async find(references: readonly [ScopedId, ...ScopedId[]], accountId: string): Promise<ReferencedState> {
    return new ReferencedState(references, await this.states.originsOf(accountId, references));
  }

  /** Never fails: state that could not be recorded is not found later. */
  private async record(accountId: string, origin: UpstreamOrigin, created: readonly CreatedState[]): Promise<void> {
    try {
      const recording = this.states.record(accountId, origin, created).then(() => true);
      if ((await within(recording, TIMEOUT_MS)) === undefined) throw new Error('the database is too slow');
    } catch (error) {
      this.logger.warn(`Failed to record state created by ${origin.channelId}: ${reasonOf(error)}`);
    }
  }
}

function collect(signals: readonly CallSignal[], created: Map<string, CreatedState>): void {
  for (const signal of signals) {
    if (signal.type !== 'state') continue;
    for (const state of signal.created)
      if (created.size < MAX_STATES_OF_CALL) created.set(`${state.kind} ${state.id}`, state);
  }
}

/** Upstream state named by a request, with its makers. */
export class ReferencedState {
  /** @param origins by position; undefined if not made for the account */
  constructor(
    private readonly references: readonly [ScopedId, ...ScopedId[]],
    private readonly origins: readonly (UpstreamOrigin | undefined)[],
  ) {}

  /** The channel that made all of it; unknown state is allowed on channels with `sharedState`. */
  admits(channel: Pick<Channel, 'id' | 'flags'>): boolean {
    return this.origins.every((origin) =>
      origin === undefined ? sharesState(channel) : origin.channelId === channel.id,
    );
  }

  /** The only channel that has it; undefined if unknown. */
  get pinned(): UpstreamOrigin | undefined {
    return this.origins.find((origin) => origin !== undefined);
  }

  /** All of it was made for the account by one channel. */
  get isKnown(): boolean {
    const { pinned } = this;
    return pinned !== undefined && this.origins.every((origin) => origin?.channelId === pinned.channelId);
  }

  /** IDs that were not made for the account. */
  get unknown(): readonly ScopedId[] {
    return this.references.filter((_, at) => this.origins[at] === undefined);
  }

  /** Names the first ID that the account does not have, or not together with the others. */
  get refusal(): AppError {
    const { pinned } = this;
    const isOther = (_: unknown, at: number): boolean => this.origins[at]?.channelId !== pinned?.channelId;
    return new StateNotFound(this.unknown[0] ?? this.references.find(isOther) ?? this.references[0]);
  }
}

const NOUNS: Readonly<Record<ScopedId['kind'], string>> = {
  response: 'response',
  item: 'item',
  conversation: 'conversation',
  file: 'file',
  container: 'container',
  thread: 'thread',
  vector_store: 'vector store',
  prompt: 'prompt',
  skill: 'skill',
  tunnel: 'tunnel',
  cached_content: 'cached content',
};

/** The state was not made through this relay for this account, and may be another account's. */
class StateNotFound extends AppError {
  /** On this code, clients send the whole conversation. */
  readonly wireDetails;

  constructor({ kind, id, path }: ScopedId) {
    super('not_found', `${path}: no ${NOUNS[kind]} found with id ${JSON.stringify(id.slice(0, 128))}.`, {
      param: path,
    });
    this.wireDetails = kind === 'thread' ? { error_code: 'thread_not_found' } : undefined;
  }
}

/** Stored responses found for a request. */
export interface FoundResponses {
  readonly response: StoredResponse | undefined;
  readonly ofItems: ReadonlyMap<string, StoredResponse>;
  /** Nothing is missing. */
  readonly isKnown: boolean;
}

/** A request's references to earlier responses, resolved. */
export class PreviousResponses {
  /** Parsed texts; each is read once, however many items refer to it. */
  private readonly read = new Map<StoredResponse, StoredResponseText>();

  constructor(
    private readonly requestAdapter: ProtocolAdapter,
    private readonly request: () => TreeObject,
    readonly found: FoundResponses,
  ) {}

  /**
   * Whether a channel may serve the request: if the responses are stored upstream, only their channel; if they are
   * stored here, any channel that can get them in place of the references. Unknown references may
   * belong to anyone, so they only go to dedicated upstream accounts.
   */
  admits(channel: Pick<Channel, 'id' | 'protocol' | 'flags'>): boolean {
    const { pinned } = this;
    if (!this.found.isKnown) return channel.protocol === this.requestAdapter.id && sharesState(channel);
    if (pinned !== undefined) return pinned.channelId === channel.id;
    // Single items are only replaced by translation.
    return channel.protocol !== this.requestAdapter.id || this.found.ofItems.size === 0;
  }

  /** Characters to be read of responses stored here. */
  get length(): number {
    const contents = new Set(this.responses.map(({ content }) => content));
    return [...contents].reduce((sum, one) => sum + (one ? one.input.length + one.response.length : 0), 0);
  }

  /** All references belong to this account. */
  get isKnown(): boolean {
    return this.found.isKnown;
  }

  /** The only channel that has the state; undefined if unknown, or stored here. */
  get pinned(): UpstreamOrigin | undefined {
    return this.responses.find(({ content }) => content === undefined);
  }

  /** Origin of the latest response: its prompt cache has the beginning of this conversation. */
  get origin(): UpstreamOrigin | undefined {
    return this.responses.at(0);
  }

  /** The continued response comes first. */
  private get responses(): readonly StoredResponse[] {
    return [this.found.response, ...this.found.ofItems.values()].filter((one) => one !== undefined);
  }

  /**
   * The request with references replaced by their content, for upstreams without the state.
   * @throws AppError invalid_request naming what is not stored here
   */
  expanded(): TreeObject {
    const { response, ofItems } = this.found;
    const contents = [...ofItems].flatMap(([id, one]) => {
      const content = this.contentOf(one);
      return content === undefined ? [] : [[id, content] as const];
    });
    const references = { response: response && this.contentOf(response), ofItems: new Map(contents) };
    return this.requestAdapter.storage?.expand(this.request(), references) ?? this.request();
  }

  /** The complete input as JSON, if what is continued is stored here. */
  completeInput(call: Call): string | undefined {
    const content = this.found.response?.content;
    return content && this.requestAdapter.storage?.inputAfter(call, content);
  }

  private contentOf(response: StoredResponse): StoredResponseText | undefined {
    const { content } = response;
    if (content === undefined) return undefined;
    const read = this.read.get(response) ?? {
      input: parseJsonTree(content.input, this.requestAdapter.rawMembers) as readonly JsonTree[],
      response: parseJsonTree(content.response, this.requestAdapter.rawMembers) as TreeObject,
    };
    this.read.set(response, read);
    return read;
  }
}
