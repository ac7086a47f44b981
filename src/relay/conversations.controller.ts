import { Controller, Delete, Get, HttpCode, Param, Post, Req, UseGuards } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ApiKeyGuard, KeyAuthenticator } from '../keys/index.js';
import { AppError, isJsonObject, type JsonObject, maskKeys } from '../platform/shared/index.js';
import type { TreeObject } from '../protocols/contract/index.js';
import { inputItems, requireStorable } from '../protocols/responses/index.js';
import { Bodies } from './bodies.js';
import { BodyBudget } from './body-budget.js';
import { callerOf, requestLineOf } from './call-context.js';
import { itemsToStore } from './conversation-turns.js';
import { RequestLimitGuard } from './prompt-counts.js';
import { StorageDisabled } from './relay.errors.js';
import {
  type Conversation,
  type ConversationItem,
  Conversations,
  type ResponseOwner,
} from './stored-responses/index.js';

/** Of a loaded item: its text, sealed and open, and its members. */
const BYTES_PER_CHARACTER = 4;
/** Per request, as at the vendor. */
const MAX_ITEMS = 20;
const MAX_PAIRS = 16;
const MAX_KEY_LENGTH = 64;
const MAX_VALUE_LENGTH = 512;

/** Conversations of the Responses API, for upstreams of every protocol. */
@Controller('v1/conversations')
@UseGuards(ApiKeyGuard, RequestLimitGuard)
export class ConversationsController {
  constructor(
    private readonly conversations: Conversations,
    private readonly keys: KeyAuthenticator,
    private readonly bodies: Bodies,
    private readonly budget: BodyBudget,
  ) {}

  @Post()
  @HttpCode(200)
  async create(@Req() request: FastifyRequest): Promise<JsonObject> {
    const owner = await this.ownerOf(request);
    const body = await this.bodyOf(request, true);
    const [items, metadata] = [itemsIn(body, 'items'), metadataIn(body)];
    const conversation = await this.conversations.create(owner, metadata);
    await this.conversations.append(owner, conversation.id, items);
    return rendered(conversation);
  }

  @Get(':id')
  async read(@Req() request: FastifyRequest, @Param('id') id: string): Promise<JsonObject> {
    return rendered(await this.find(await this.ownerOf(request), id));
  }

  @Post(':id')
  @HttpCode(200)
  async update(@Req() request: FastifyRequest, @Param('id') id: string): Promise<JsonObject> {
    const owner = await this.ownerOf(request);
    await this.find(owner, id);
    const metadata = metadataIn(await this.bodyOf(request));
    return rendered((await this.conversations.update(owner, id, metadata)) ?? fail(new ConversationNotFound(id)));
  }

  @Delete(':id')
  async delete(@Req() request: FastifyRequest, @Param('id') id: string): Promise<JsonObject> {
    const owner = await this.ownerOf(request);
    await this.find(owner, id);
    await this.conversations.delete(owner, id);
    return { id, object: 'conversation.deleted', deleted: true };
  }

  @Get(':id/items')
  async list(@Req() request: FastifyRequest, @Param('id') id: string): Promise<JsonObject> {
    const owner = await this.ownerOf(request);
    const share = this.budget.open(owner.accountId);
    try {
      const { own } = await this.conversations.lengths(owner, id);
      share.growForWork(own * BYTES_PER_CHARACTER);
      const items = (await this.conversations.items(owner, id)) ?? fail(new ConversationNotFound(id));
      return inputItems(id, items.map(parsed), new URLSearchParams(requestLineOf(request).query));
    } finally {
      share.release();
    }
  }

  @Post(':id/items')
  @HttpCode(200)
  async add(@Req() request: FastifyRequest, @Param('id') id: string): Promise<JsonObject> {
    const owner = await this.ownerOf(request);
    await this.find(owner, id);
    const items = itemsIn(await this.bodyOf(request), 'items');
    if (items.length === 0) throw invalid('items', 'must have at least one item');
    await this.conversations.append(owner, id, items);
    return inputItems(id, items.map(parsed), new URLSearchParams('order=asc'));
  }

  @Get(':id/items/:itemId')
  async readItem(
    @Req() request: FastifyRequest,
    @Param('id') id: string,
    @Param('itemId') itemId: string,
  ): Promise<JsonObject> {
    const owner = await this.ownerOf(request);
    await this.find(owner, id);
    const item = (await this.conversations.item(owner, id, itemId)) ?? fail(new ItemNotFound(itemId));
    return JSON.parse(item) as JsonObject;
  }

  @Delete(':id/items/:itemId')
  async deleteItem(
    @Req() request: FastifyRequest,
    @Param('id') id: string,
    @Param('itemId') itemId: string,
  ): Promise<JsonObject> {
    const owner = await this.ownerOf(request);
    const conversation = await this.find(owner, id);
    if (itemId.includes('\0') || !(await this.conversations.deleteItem(owner, id, itemId)))
      throw new ItemNotFound(itemId);
    return rendered(conversation);
  }

  private async find(owner: ResponseOwner, id: string): Promise<Conversation> {
    return (await this.conversations.find(owner, id)) ?? fail(new ConversationNotFound(id));
  }

  private async ownerOf(request: FastifyRequest): Promise<ResponseOwner> {
    const caller = callerOf(request);
    if (!caller.storesResponses) throw StorageDisabled.forResponse();
    const { keyId, accountId } = caller;
    return { keyId, accountId, secret: await this.keys.secretOf(caller, request.headers) };
  }

  private async bodyOf(request: FastifyRequest, mayBeEmpty = false): Promise<JsonObject> {
    const body = await this.bodies.read(request.raw, { next: () => undefined }, callerOf(request).accountId);
    try {
      const text = body.bytes.toString('utf8');
      const value: unknown = text === '' && mayBeEmpty ? {} : JSON.parse(text);
      if (isJsonObject(value)) return value;
    } catch {
      // Not JSON.
    } finally {
      body.drop();
    }
    throw new AppError('invalid_request', 'The body is not a JSON object.');
  }
}

const rendered = ({ id, createdAt, metadata }: Conversation): JsonObject => ({
  id,
  object: 'conversation',
  created_at: Math.floor(createdAt.getTime() / 1000),
  metadata,
});

const parsed = ({ text }: ConversationItem): TreeObject => JSON.parse(text) as TreeObject;

function itemsIn(body: JsonObject, name: string): readonly ConversationItem[] {
  const items = body[name] ?? [];
  if (!Array.isArray(items) || items.length > MAX_ITEMS)
    throw invalid(name, `must be a list of at most ${MAX_ITEMS} items`);
  requireStorable(items);
  return itemsToStore(items);
}

function metadataIn(body: JsonObject): JsonObject {
  const metadata: unknown = body['metadata'] ?? {};
  const isValid =
    isJsonObject(metadata) &&
    Object.keys(metadata).length <= MAX_PAIRS &&
    Object.entries(metadata).every(
      ([key, value]) => key.length <= MAX_KEY_LENGTH && typeof value === 'string' && value.length <= MAX_VALUE_LENGTH,
    );
  if (!isValid)
    throw invalid(
      'metadata',
      `must be an object of at most ${MAX_PAIRS} strings of up to ${MAX_VALUE_LENGTH} characters`,
    );
  return metadata;
}

const invalid = (param: string, what: string): AppError =>
  new AppError('invalid_request', `${param} ${what}.`, { param, fault: 'invalid_value' });

function fail(error: AppError): never {
  throw error;
}

class ConversationNotFound extends AppError {
  constructor(id: string) {
    super(
      'not_found',
      `No conversation "${maskKeys(id)}" for this key. It expired, was deleted, or belongs to another key.`,
    );
  }
}

class ItemNotFound extends AppError {
  constructor(id: string) {
    super('not_found', `No item "${maskKeys(id)}" in this conversation.`);
  }
}
