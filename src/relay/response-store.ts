import { Injectable, Logger } from '@nestjs/common';
import { concatMap, defer, from, map, type MonoTypeOperatorFunction, type Observable, of } from 'rxjs';
import type { Channel } from '../catalog/channels/index.js';
import { type Caller, KeyAuthenticator } from '../keys/index.js';
import { AppError, type JsonObject, reasonOf, within } from '../platform/shared/index.js';
import {
  type Call,
  type Frame,
  isInPrompt,
  type ProtocolAdapter,
  type ResponseReferences,
  type ScopedId,
  type TreeObject,
} from '../protocols/contract/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import {
  conversationNamedBy,
  type ConversationTurn,
  itemsToStore,
  ownInputOf,
  threadNamedBy,
  withoutState,
} from './conversation-turns.js';
import { StorageDisabled } from './relay.errors.js';
import { type FoundResponses, PreviousResponses, type ReferencedState, StateAccess } from './state-access.js';
import { Conversations, type ResponseOwner, StoredResponses, type UpstreamOrigin } from './stored-responses/index.js';
import { TranslationService } from './translation.service.js';

/** Max delay of the response's end for storing it. */
const TIMEOUT_MS = 2000;
/** Max stream of a message to be stored. */
const MAX_COLLECTED_BYTES = 16 * 1024 * 1024;

/** A response to be stored on completion. */
interface StorableResponse {
  readonly call: Call;
  readonly caller: Caller;
  /** Protocol of the response. */
  readonly responseAdapter: ProtocolAdapter;
  readonly origin: UpstreamOrigin;
  /** The request's content as JSON, or undefined if too long. Absent: the channel stores the response. */
  readonly input: (() => string | undefined) | undefined;
}

/** References of a request to stored responses and upstream state. */
export interface ResolvedReferences {
  readonly previous?: PreviousResponses | undefined;
  readonly state?: ReferencedState | undefined;
}

/** Whether a channel has everything referenced. */
export const admitsReferences = ({ previous, state }: ResolvedReferences, channel: Channel): boolean =>
  previous?.admits(channel) !== false && state?.admits(channel) !== false;

/** The only channel that has it; undefined if unknown. */
export const pinnedOrigin = ({ previous, state }: ResolvedReferences): UpstreamOrigin | undefined =>
  previous?.pinned ?? state?.pinned;

/** Stored responses in calls: resolving references and storing new responses. */
@Injectable()
export class ResponseStore {
  private readonly logger = new Logger('ResponseStore');
  /** Of running calls. */
  private readonly turns = new WeakMap<Call, ConversationTurn>();

  constructor(
    private readonly responses: StoredResponses,
    private readonly conversations: Conversations,
    private readonly keys: KeyAuthenticator,
    private readonly states: StateAccess,
    private readonly adapters: AdapterRegistry,
    private readonly translations: TranslationService,
  ) {}

  /**
   * Resolves references of a request; undefined, without waiting, if there are none.
   * @param request parsed request; only read if its head says that there may be some
   * @throws StorageDisabled when the key does not allow storage but the request needs it
   */
  resolve(call: Call, caller: Caller, request: () => TreeObject): Promise<ResolvedReferences> | undefined {
    const conversationId = conversationNamedBy(call);
    if (conversationId !== undefined && caller.storesResponses)
      return this.resolveConversation(call, caller, request, conversationId);
    const messageId = threadNamedBy(call);
    if (messageId !== undefined && caller.storesResponses) return this.resolveThread(call, caller, request, messageId);
    return this.resolveOthers(call, caller, request);
  }

  /** A thread of this key is stored here; another one may be an upstream's. */
  private async resolveThread(
    call: Call,
    caller: Caller,
    request: () => TreeObject,
    messageId: string,
  ): Promise<ResolvedReferences> {
    const response = await this.responses.find(await this.ownerOf(call, caller), messageId, 'thread');
    const isStored = response !== undefined;
    const others = await this.resolveOthers(isStored ? withoutState(call, 'thread') : call, caller, request);
    if (!isStored && others?.state?.isKnown === true) return others;
    const found = { response, ofItems: new Map(), isKnown: isStored };
    const requestAdapter = this.adapters.clientAdapter(call.protocol);
    return { state: others?.state, previous: new PreviousResponses(requestAdapter, request, found) };
  }

  private resolveOthers(
    call: Call,
    caller: Caller,
    request: () => TreeObject,
  ): Promise<ResolvedReferences> | undefined {
    const findingPrevious = this.findPrevious(call, caller, request);
    const findingState = this.states.referencedBy(call, caller);
    if (findingPrevious === undefined && findingState === undefined) return undefined;
    return Promise.all([findingPrevious, findingState]).then(([previous, state]) => ({ previous, state }));
  }

  /** A conversation of this key is stored here; another one may be an upstream's. */
  private async resolveConversation(
    call: Call,
    caller: Caller,
    request: () => TreeObject,
    id: string,
  ): Promise<ResolvedReferences> {
    const owner = await this.ownerOf(call, caller);
    const input = ownInputOf(call);
    // Before the items are loaded.
    await this.conversations.checkSpace(owner, id, input.length);
    const items = await this.conversations.items(owner, id);
    if (items === undefined) return (await this.resolveOthers(call, caller, request)) ?? {};
    if (call.head.fields.has('previous_response_id')) throw new TwoContinuations();
    const others = await this.resolveOthers(withoutState(call, 'conversation'), caller, request);
    const unknown = others?.state?.unknown.find(isInPrompt);
    if (unknown !== undefined) throw new NotInConversation(unknown);
    this.turns.set(call, { owner, id, input });
    const content = { input: `[${items.map(({ text }) => text).join(',')}]`, response: '{"output":[]}' };
    const response = { id, channelId: '', credentialId: null, expiresAt: new Date(0), content };
    const { ofItems, isKnown } = others?.previous?.found ?? { ofItems: new Map(), isKnown: true };
    const requestAdapter = this.adapters.clientAdapter(call.protocol);
    return {
      state: others?.state,
      previous: new PreviousResponses(requestAdapter, request, { response, ofItems, isKnown }),
    };
  }

  private findPrevious(
    call: Call,
    caller: Caller,
    request: () => TreeObject,
  ): Promise<PreviousResponses | undefined> | undefined {
    const requestAdapter = this.adapters.clientAdapter(call.protocol);
    const { storage } = requestAdapter;
    if (call.head.store === true && !caller.storesResponses)
      throw storage?.kind === 'thread' ? StorageDisabled.forThread() : StorageDisabled.forResponse();
    if (storage?.referencesIn === undefined || call.head.outside === undefined) return undefined;
    const find = (references: ResponseReferences): Promise<PreviousResponses> | undefined => {
      if (references.responseId === undefined && references.itemIds.length === 0) return undefined;
      if (!caller.storesResponses) throw StorageDisabled.forReference(references.responseId);
      return this.find(references, call, caller).then((found) => new PreviousResponses(requestAdapter, request, found));
    };
    const references = this.translations.references(call, caller, request);
    return references instanceof Promise ? references.then(find) : find(references);
  }

  /** The same frames; before the last one, the response and the state it creates are stored. */
  storing(frames: Observable<Frame>, storable: StorableResponse): Observable<Frame> {
    const { call, caller, origin } = storable;
    const recorded = this.states.recorded(frames, call, caller, origin);
    const turn = this.turns.get(call);
    const isThread = storable.responseAdapter.storage?.kind === 'thread';
    const stores = this.stores(storable) && mayKeep(storable, isThread);
    if (turn === undefined && !stores) return recorded;
    const store = async (last: Uint8Array): Promise<void> => {
      if (stores) await this.store(storable, last);
      if (turn !== undefined) await this.addTurn(turn, storable, last);
    };
    return recorded.pipe(storedBeforeLastFrame(store, isThread));
  }

  /** Whether the response is stored here, or remembered as stored by its channel. */
  stores({ call, caller, responseAdapter }: Pick<StorableResponse, 'call' | 'caller' | 'responseAdapter'>): boolean {
    const { storage } = responseAdapter;
    if (storage === undefined || responseAdapter.id !== call.protocol) return false;
    const { store = storage.kind === 'response' } = call.head;
    return store && caller.storesResponses;
  }

  /**
   * Stores a response. Never fails: what could not be stored will not be found.
   * @param last final bytes of the response
   */
  async store(storable: StorableResponse, last: Uint8Array): Promise<void> {
    try {
      await within(this.write(storable, last), TIMEOUT_MS);
    } catch (error) {
      this.logger.warn(`Failed to store the response of ${storable.call.id}: ${reasonOf(error)}`);
    }
  }

  /** Never fails, as `store`. */
  private async addTurn(
    turn: ConversationTurn,
    { call, responseAdapter }: StorableResponse,
    last: Uint8Array,
  ): Promise<void> {
    try {
      const response = responseAdapter.storage?.responseIn(last);
      if (response === undefined) return;
      const { output } = JSON.parse(response.text()) as JsonObject;
      const items = [...itemsToStore(JSON.parse(turn.input)), ...itemsToStore(output)];
      await within(this.conversations.appendTurn(turn.owner, turn.id, items), TIMEOUT_MS);
    } catch (error) {
      this.logger.warn(`Failed to add ${call.id} to its conversation: ${reasonOf(error)}`);
    }
  }

  private async find({ responseId, itemIds }: ResponseReferences, call: Call, caller: Caller): Promise<FoundResponses> {
    const owner = await this.ownerOf(call, caller);
    const response = responseId === undefined ? undefined : await this.responses.find(owner, responseId);
    const ofItems = await this.responses.ofItems(owner, itemIds);
    const isKnown = (responseId === undefined || response !== undefined) && itemIds.every((id) => ofItems.has(id));
    return { response, ofItems, isKnown };
  }

  private async write(
    { call, caller, responseAdapter, origin, input }: StorableResponse,
    last: Uint8Array,
  ): Promise<void> {
    const { storage } = responseAdapter;
    const storable = storage?.responseIn(last);
    if (storage === undefined || storable === undefined) return;
    const text = input?.();
    if (input !== undefined && text === undefined) return;
    const content = text === undefined ? undefined : { input: text, response: storable.text() };
    const { id, itemIds } = storable;
    const owner = await this.ownerOf(call, caller);
    await this.responses.store(owner, { id, itemIds, callId: call.id, ...origin, content }, storage.kind);
  }

  private async ownerOf({ request }: Call, caller: Caller): Promise<ResponseOwner> {
    const { keyId, accountId } = caller;
    return { keyId, accountId, secret: await this.keys.secretOf(caller, request.headers) };
  }
}

class TwoContinuations extends AppError {
  constructor() {
    super('invalid_request', 'previous_response_id cannot be combined with conversation. Remove one of them.', {
      param: 'previous_response_id',
      fault: 'invalid_value',
    });
  }
}

/** Threads of channels are known as their state. What is stored here may later be sent to any channel. */
function mayKeep({ call, input }: StorableResponse, isThread: boolean): boolean {
  if (input === undefined) return !isThread;
  return call.head.demands?.scopedIds.some(isInPrompt) !== true;
}

/** Later calls send it again, on any channel. */
class NotInConversation extends AppError {
  constructor({ path }: ScopedId) {
    super('invalid_request', `${path}: was not made through this relay. Send it without "conversation".`, {
      param: path,
      fault: 'invalid_value',
    });
  }
}

/**
 * Delays the last frame until the response is stored, since the client may refer to it immediately.
 * @param store gets the last bytes
 * @param isCollected gets all bytes; none if there are too many
 */
const storedBeforeLastFrame =
  (store: (bytes: Uint8Array) => Promise<void>, isCollected: boolean): MonoTypeOperatorFunction<Frame> =>
  (frames) =>
    defer(() => {
      const pieces: Uint8Array[] = [];
      let length = 0;
      return frames.pipe(
        concatMap((frame) => {
          if (isCollected && (length += frame.bytes.length) <= MAX_COLLECTED_BYTES) pieces.push(frame.bytes);
          else pieces.length = 0;
          if (!frame.last) return of(frame);
          const bytes = isCollected ? Buffer.concat(pieces) : frame.bytes;
          return from(store(bytes)).pipe(map(() => frame));
        }),
      );
    });
