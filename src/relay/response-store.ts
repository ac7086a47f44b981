import { Injectable, Logger } from '@nestjs/common';
import { concatMap, from, map, type MonoTypeOperatorFunction, type Observable, of } from 'rxjs';
import type { Channel } from '../catalog/channels/index.js';
import { type Caller, KeyAuthenticator } from '../keys/index.js';
import { reasonOf, within } from '../platform/shared/index.js';
import type { Call, Frame, ResponseReferences, ProtocolAdapter, TreeObject } from '../protocols/contract/index.js';
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
  readonly previous?: PreviousResponses | undefined;
  readonly state?: NamedState | undefined;
}

/** Whether a channel has everything referenced. */
export const admitsNamed = ({ previous, state }: NamedReferences, channel: Channel): boolean =>
  previous?.admits(channel) !== false && state?.admits(channel) !== false;

/** The only channel that has it; undefined if unknown. */
export const keeperOf = ({ previous, state }: NamedReferences): ResponseOrigin | undefined =>
  previous?.keeper ?? state?.keeper;

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
   * @param protocol protocol of the request
   * @param request parsed request, for expansion
   * @param names its references; only evaluated if its head says that there may be some
   * @throws StorageDisabled when the key does not allow storage but the request needs it
   */
  recall(
    call: Call,
    caller: Caller,
    protocol: ProtocolAdapter,
    request: () => TreeObject,
    names: () => ResponseReferences | Promise<ResponseReferences>,
  ): Promise<NamedReferences> | undefined {
    const lookup = this.recollect(call, caller, protocol, request, names);
    const finding = this.states.namedBy(call, caller);
    if (lookup === undefined && finding === undefined) return undefined;
    return Promise.all([lookup, finding]).then(([previous, state]) => ({ previous, state }));
  }

  private recollect(
    call: Call,
    caller: Caller,
    protocol: ProtocolAdapter,
    request: () => TreeObject,
    names: () => ResponseReferences | Promise<ResponseReferences>,
  ): Promise<PreviousResponses | undefined> | undefined {
    if (call.head.store === true && !caller.storesResponses) throw StorageDisabled.ofAnswers();
    if (protocol.storage === undefined || call.head.outside === undefined) return undefined;
    const find = (named: ResponseReferences): Promise<PreviousResponses> | undefined => {
      if (named.responseId === undefined && named.itemIds.length === 0) return undefined;
      if (!caller.storesResponses) throw StorageDisabled.ofNames(named.responseId);
      return this.find(named, call, caller, protocol, request);
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
    return wanted && caller.storesResponses;
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
    { responseId: answerId, itemIds }: ResponseReferences,
    call: Call,
    caller: Caller,
    protocol: ProtocolAdapter,
    request: () => TreeObject,
  ): Promise<PreviousResponses> {
    const owner = await this.ownerOf(call, caller);
    const response = answerId === undefined ? undefined : await this.answers.find(owner, answerId);
    const ofItems = await this.answers.ofItems(owner, itemIds);
    const isKnown = (answerId === undefined || response !== undefined) && itemIds.every((id) => ofItems.has(id));
    return new PreviousResponses(protocol, request, { response, ofItems, isKnown });
  }

  private async write({ call, caller, protocol, maker, input }: Keepable, last: Uint8Array): Promise<void> {
    const { storage } = protocol;
    const given = storage?.responseIn(last);
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
