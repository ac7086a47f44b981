import { Injectable, Logger } from '@nestjs/common';
import { concatMap, defer, finalize, from, map, type Observable, of } from 'rxjs';
import type { Call, CallSignal, CreatedState, Frame, ScopedId } from '../protocols/contract/index.js';
import { type Channel, sharesState } from '../catalog/channels/index.js';
import { type ResponseOrigin } from './routing/index.js';
import type { Caller } from '../keys/index.js';
import { AppError, reasonOf, within } from '../platform/shared/index.js';
import { UpstreamStates } from './stored-responses/index.js';

/** The end of a response waits no longer than this until its state is recorded. */
const TIMEOUT_MS = 2000;
/** No honest response names more. */
const MAX_STATES_OF_CALL = 1000;

/** Decides which upstream state calls may name: what upstreams created for their account through this relay. */
@Injectable()
export class StateAccess {
  private readonly logger = new Logger('StateAccess');

  constructor(private readonly states: UpstreamStates) {}

  /** The upstream state that a request names; undefined, and nothing is waited for: none. */
  namedBy({ head: { demands } }: Call, { accountId }: Pick<Caller, 'accountId'>): Promise<NamedState> | undefined {
    const [first, ...others] = demands?.scopedIds ?? [];
    return first && this.find([first, ...others], accountId);
  }

  /** Records what state the response names before its end goes on; of one that was left or failed, behind it. */
  recorded(
    frames: Observable<Frame>,
    { head: { demands } }: Call,
    { accountId }: Pick<Caller, 'accountId'>,
    maker: ResponseOrigin,
  ): Observable<Frame> {
    if (demands?.createsState !== true) return frames;
    return defer(() => {
      const created = new Map<string, CreatedState>();
      const record = async (): Promise<void> => {
        const states = [...created.values()];
        created.clear();
        if (states.length > 0) await this.record(accountId, maker, states);
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

  private async find(named: readonly [ScopedId, ...ScopedId[]], accountId: string): Promise<NamedState> {
    return new NamedState(named, await this.states.makersOf(accountId, named));
  }

  /** Never fails: what could not be recorded is not found later. */
  private async record(accountId: string, maker: ResponseOrigin, created: readonly CreatedState[]): Promise<void> {
    try {
      const recording = this.states.record(accountId, maker, created).then(() => true);
      if ((await within(recording, TIMEOUT_MS)) === undefined) throw new Error('the database is too slow');
    } catch (error) {
      this.logger.warn(`Failed to record state created by ${maker.channelId}: ${reasonOf(error)}`);
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

/** The upstream state that a request names, and who made it. */
export class NamedState {
  /** @param makers in the order of the names; undefined where it was not made for the account */
  constructor(
    private readonly named: readonly [ScopedId, ...ScopedId[]],
    private readonly makers: readonly (ResponseOrigin | undefined)[],
  ) {}

  /** The channel that created all of it; for unknown state, channels with `sharedState`. */
  admits(channel: Pick<Channel, 'id' | 'flags'>): boolean {
    return this.makers.every((maker) => (maker === undefined ? sharesState(channel) : maker.channelId === channel.id));
  }

  /** Who alone has it; undefined when that is not known. */
  get keeper(): ResponseOrigin | undefined {
    return this.makers.find((maker) => maker !== undefined);
  }

  /** All of it was made for the account, in one place. */
  get isKnown(): boolean {
    const { keeper } = this;
    return keeper !== undefined && this.makers.every((maker) => maker?.channelId === keeper.channelId);
  }

  /** For a call that no channel may be asked for: the first id that the account does not have, or not with the others. */
  get refusal(): AppError {
    const { keeper } = this;
    const isOther = (_: unknown, at: number): boolean => this.makers[at]?.channelId !== keeper?.channelId;
    const unknown = this.named.find((_, at) => this.makers[at] === undefined);
    return new StateNotFound(unknown ?? this.named.find(isOther) ?? this.named[0]);
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
};

/** The id is of state that was not made through this relay for this account: it may be another account's. */
class StateNotFound extends AppError {
  /** Clients that get this code send the whole conversation. */
  readonly wireDetails;

  constructor({ kind, id, path }: ScopedId) {
    super('not_found', `${path}: no ${NOUNS[kind]} found with id ${JSON.stringify(id.slice(0, 128))}.`, {
      param: path,
    });
    this.wireDetails = kind === 'thread' ? { error_code: 'thread_not_found' } : undefined;
  }
}
