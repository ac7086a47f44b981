import { Injectable, Logger } from '@nestjs/common';
import { concatMap, from, map, type MonoTypeOperatorFunction, type Observable, of } from 'rxjs';
import type { Channel } from '../catalog/channels/index.js';
import { type Caller, KeyAuthenticator } from '../keys/index.js';
import { reasonOf, within } from '../platform/shared/index.js';
import type { Call, Frame, NamedResponses, ProtocolAdapter, TreeObject } from '../protocols/contract/index.js';
import { StorageDisabled } from './relay.errors.js';
import type { ResponseOrigin } from './routing/index.js';
import { type NamedState, PreviousResponses, StateAccess } from './state-access.js';
import { type ResponseOwner, StoredResponses } from './stored-responses/index.js';

/** Max delay of the response's end for storing it. */
const TIMEOUT_MS = 2000;

/** A response to be stored on completion. */
interface Keepable {
  readonly call: Call;
  readonly caller: Caller;
  /** Protocol of the response. */
  readonly protocol: ProtocolAdapter;
  readonly maker: ResponseOrigin;
  /** The request's content as JSON, or undefined if too long. Absent: the channel stores the response. */
  readonly input: (() => string | undefined) | undefined;
}

/** References of a request to stored responses and upstream state. */
export interface NamedReferences {
  readonly recollection?: PreviousResponses | undefined;
  readonly state?: NamedState | undefined;
}

/** Whether a channel has everything referenced. */
export const admitsNamed = ({ recollection, state }: NamedReferences, channel: Channel): boolean =>
  recollection?.admits(channel) !== false && state?.admits(channel) !== false;

/** The only channel that has it; undefined if unknown. */
export const keeperOf = ({ recollection, state }: NamedReferences): ResponseOrigin | undefined =>
  recollection?.keeper ?? state?.keeper;

/** Stored responses in calls: resolving references and storing new responses. */
@Injectable()
export class ResponseStore {
  private readonly logger = new Logger('AnswerMemory');

  constructor(
    private readonly answers: StoredResponses,
    private readonly keys: KeyAuthenticator,
    private readonly states: StateAccess,
  ) {}

  /**
   * Resolves references of a request; undefined, without waiting, if there are none.
   * @param asked protocol of the request
   * @param request parsed request, for expansion
   * @param names its references; only evaluated if its head says that there may be some
   * @throws StorageDisabled when the key does not allow storage but the request needs it
   */
  recall(
    call: Call,
    caller: Caller,
    asked: ProtocolAdapter,
    request: () => TreeObject,
    names: () => NamedResponses | Promise<NamedResponses>,
  ): Promise<NamedReferences> | undefined {
    const recollecting = this.recollect(call, caller, asked, request, names);
    const finding = this.states.namedBy(call, caller);
    if (recollecting === undefined && finding === undefined) return undefined;
    return Promise.all([recollecting, finding]).then(([recollection, state]) => ({ recollection, state }));
  }

  private recollect(
    call: Call,
    caller: Caller,
    asked: ProtocolAdapter,
    request: () => TreeObject,
    names: () => NamedResponses | Promise<NamedResponses>,
  ): Promise<PreviousResponses | undefined> | undefined {
    if (call.head.store === true && !caller.storesAnswers) throw StorageDisabled.ofAnswers();
    if (asked.storage === undefined || call.head.outside === undefined) return undefined;
    const find = (named: NamedResponses): Promise<PreviousResponses> | undefined => {
      if (named.answerId === undefined && named.itemIds.length === 0) return undefined;
      if (!caller.storesAnswers) throw StorageDisabled.ofNames(named.answerId);
      return this.find(named, call, caller, asked, request);
    };
    const named = names();
    return named instanceof Promise ? named.then(find) : find(named);
  }

  /** The same frames; before the last one, the response and the state it creates are stored. */
  kept(frames: Observable<Frame>, keepable: Keepable): Observable<Frame> {
    const { call, caller, maker } = keepable;
    const recorded = this.states.recorded(frames, call, caller, maker);
    return this.keeps(keepable) ? recorded.pipe(firstFrameBuffer((last) => this.keep(keepable, last))) : recorded;
  }

  /** Whether the response is stored here, or remembered as stored by its channel. */
  keeps({ call, caller, protocol }: Pick<Keepable, 'call' | 'caller' | 'protocol'>): boolean {
    const wanted = protocol.storage !== undefined && protocol.id === call.protocol && call.head.store !== false;
    return wanted && caller.storesAnswers;
  }

  /**
   * Stores a response. Never fails: what could not be stored will not be found.
   * @param last final bytes of the response
   */
  async keep(keepable: Keepable, last: Uint8Array): Promise<void> {
    try {
      await within(this.write(keepable, last), TIMEOUT_MS);
    } catch (error) {
      this.logger.warn(`Failed to store the response of ${keepable.call.id}: ${reasonOf(error)}`);
    }
  }

  private async find(
    { answerId, itemIds }: NamedResponses,
    call: Call,
    caller: Caller,
    asked: ProtocolAdapter,
    request: () => TreeObject,
  ): Promise<PreviousResponses> {
    const owner = await this.ownerOf(call, caller);
    const answer = answerId === undefined ? undefined : await this.answers.find(owner, answerId);
    const ofItems = await this.answers.ofItems(owner, itemIds);
    const isKnown = (answerId === undefined || answer !== undefined) && itemIds.every((id) => ofItems.has(id));
    return new PreviousResponses(asked, request, { answer, ofItems, isKnown });
  }

  private async write({ call, caller, protocol, maker, input }: Keepable, last: Uint8Array): Promise<void> {
    const { storage } = protocol;
    const given = storage?.answerIn(last);
    if (storage === undefined || given === undefined) return;
    const text = input?.();
    if (input !== undefined && text === undefined) return;
    const content = text === undefined ? undefined : { input: text, response: given.text() };
    const { id, itemIds } = given;
    const owner = await this.ownerOf(call, caller);
    await this.answers.keep(owner, { id, itemIds, callId: call.id, ...maker, content });
  }

  private async ownerOf({ request }: Call, caller: Caller): Promise<ResponseOwner> {
    const { keyId, accountId } = caller;
    return { keyId, accountId, secret: await this.keys.secretOf(caller, request.headers) };
  }
}

/** Delays the last frame until the response is stored, since the client may refer to it immediately. */
const firstFrameBuffer = (keep: (last: Uint8Array) => Promise<void>): MonoTypeOperatorFunction<Frame> =>
  concatMap((frame) => (frame.last ? from(keep(frame.bytes)).pipe(map(() => frame)) : of(frame)));
