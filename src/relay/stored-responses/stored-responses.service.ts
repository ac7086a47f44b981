import { Injectable } from '@nestjs/common';
import { AppError, Clock } from '../../platform/shared/index.js';
import {
  type NewStoredResponse,
  openContent,
  type ResponseOwner,
  sealContent,
  type StoredContent,
  type StoredResponse,
  StoredResponseLimits,
} from './stored-response.js';
import { StoredResponsesRepository, type StoredResponseRow } from './stored-responses.repository.js';

/** Interval of evicting references to channels' responses, in responses of this process. */
const ORIGINS_PER_EVICTION = 64;

/** Responses, and messages with their threads, are stored under names of their own. */
type StoredKind = 'response' | 'thread';

/** Stored responses of keys. Responses of other keys and expired ones are not found. */
@Injectable()
export class StoredResponses {
  private origins = 0;

  constructor(
    private readonly repository: StoredResponsesRepository,
    private readonly limits: StoredResponseLimits,
    private readonly clock: Clock,
  ) {}

  /** Expiry; undefined if not stored: too large, or the key does not allow it. */
  async store(
    owner: ResponseOwner,
    { content, ...named }: NewStoredResponse,
    kind: StoredKind = 'response',
  ): Promise<Date | undefined> {
    const response = { ...named, id: nameOf(named.id, kind) };
    const sealed = content === undefined ? null : await this.seal(content, owner, response.id);
    if (sealed === undefined) return undefined;
    const createdAt = this.clock.date();
    const lifeMs = sealed === null ? this.limits.originLifetimeMs : this.limits.lifetimeMs;
    const expiresAt = new Date(createdAt.getTime() + lifeMs);
    if (!(await this.repository.insert(owner, { ...response, createdAt, expiresAt, sealed }))) return undefined;
    if (sealed !== null || ++this.origins % ORIGINS_PER_EVICTION === 0) await this.evict(owner);
    return expiresAt;
  }

  async find(owner: ResponseOwner, id: string, kind: StoredKind = 'response'): Promise<StoredResponse | undefined> {
    if (!isStorable(id)) return undefined;
    const row = await this.repository.find(owner.keyId, nameOf(id, kind), this.clock.date());
    return row && this.open(row, owner);
  }

  /**
   * By item ID; items of one response share an object.
   * @throws AppError request_too_large when they exceed the limits of one request
   */
  async ofItems(owner: ResponseOwner, itemIds: readonly string[]): Promise<ReadonlyMap<string, StoredResponse>> {
    if (itemIds.length > this.limits.maxReferencedItems) throw new TooMuchReferenced();
    const ids = itemIds.filter(isStorable);
    const rows = ids.length === 0 ? [] : await this.repository.ofItems(owner.keyId, ids, this.clock.date());
    const found = new Map<string, StoredResponse>();
    let length = 0;
    for (const { itemIds: named, ...row } of rows) {
      const response = await this.open(row, owner);
      length += lengthOf(response?.content);
      if (length > this.limits.maxReferencedLength) throw new TooMuchReferenced();
      if (response !== undefined) for (const id of named) found.set(id, response);
    }
    return found;
  }

  /** Whether it existed. */
  delete(owner: Pick<ResponseOwner, 'keyId'>, id: string): Promise<boolean> {
    return isStorable(id) ? this.repository.delete(owner.keyId, id) : Promise.resolve(false);
  }

  /** Expiry of a call's stored response; undefined: not stored. */
  expiryOfCall(accountId: string, callId: string): Promise<Date | undefined> {
    return this.repository.expiryOfCall(accountId, callId, this.clock.date());
  }

  /** Deletes the stored response of an account's call. */
  deleteOfCall(accountId: string, callId: string): Promise<void> {
    return this.repository.deleteOfCall(accountId, callId);
  }

  private async seal(content: StoredContent, owner: ResponseOwner, id: string): Promise<Buffer | undefined> {
    if (lengthOf(content) > this.limits.maxTextLength) return undefined;
    const sealed = await sealContent(content, owner, id);
    return sealed.length > this.limits.maxSealedBytes ? undefined : sealed;
  }

  private async open({ sealed, ...row }: StoredResponseRow, owner: ResponseOwner): Promise<StoredResponse | undefined> {
    if (sealed === null) return { ...row, content: undefined };
    const content = await openContent(sealed, owner, row.id);
    return content && { ...row, content };
  }

  private evict({ keyId }: ResponseOwner): Promise<void> {
    const { maxPerKey, maxSealedBytesPerKey, maxOriginsPerKey } = this.limits;
    return this.repository.evict(keyId, maxPerKey, maxSealedBytesPerKey, maxOriginsPerKey);
  }
}

class TooMuchReferenced extends AppError {
  constructor() {
    super(
      'request_too_large',
      'The request refers to too many items, or their total size is too large. Send only the newest items.',
    );
  }
}

/** PostgreSQL rejects NUL; IDs with spaces are those of threads. */
const isStorable = (id: string): boolean => !/[\0 ]/.test(id);

const nameOf = (id: string, kind: StoredKind): string => (kind === 'response' ? id : `${kind} ${id}`);

const lengthOf = (content: StoredContent | undefined): number =>
  content === undefined ? 0 : content.input.length + content.response.length;
