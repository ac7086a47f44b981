import { Injectable } from '@nestjs/common';
import { type Channel, ChannelDirectory, refusesUnknownMembers, takesCalls } from '../catalog/channels/index.js';
import { CatalogService, Offer } from '../catalog/index.js';
import type { Caller } from '../keys/index.js';
import { AppError, maskKeys } from '../platform/shared/index.js';
import type { Call, CallHead, ListedModel } from '../protocols/contract/index.js';
import { type BillingPlan, requirePrices, unpricedTool } from './billing/index.js';
import { NoChannel } from './routing/index.js';

/** Which models a caller may use. */
@Injectable()
export class ModelAccess {
  constructor(
    private readonly catalog: CatalogService,
    private readonly channels: ChannelDirectory,
    private readonly offer: Offer,
  ) {}

  /**
   * What a call is to be billed as.
   * @throws AppError when the model is unknown, not this key's, nowhere to be had, or without a price for what is asked for
   */
  plan(call: Pick<Call, 'protocol' | 'head'>, caller: Caller): BillingPlan {
    const { version } = this.catalog.current();
    const { group, model } = this.permitted(call.head.model, caller);
    const namedModels = this.namedBy(call.head, caller);
    const models = [model, ...(namedModels?.values() ?? [])];
    this.requireChannel(call, group.name, model.name, unpricedTool(call.head, models));
    requirePrices(call.head, models);
    return { caller, model, group, catalogVersion: version, ...(namedModels && { namedModels }) };
  }

  /** The other models that a request names: each must be one that the caller may use. */
  private namedBy({ demands }: CallHead, caller: Caller): BillingPlan['namedModels'] {
    if (demands === undefined || demands.models.length === 0) return undefined;
    return new Map(
      demands.models.map(({ name, path }) => {
        try {
          return [name, this.permitted(name, caller).model];
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
          throw new AppError(error.kind, `${path}: ${error.message}`, { ...error.details, param: path });
        }
      }),
    );
  }

  /** A model, and the group that it is the caller's in. @throws AppError when it is unknown, or not this key's */
  permitted(name: string, caller: Caller): Pick<BillingPlan, 'group' | 'model'> {
    const { groups, models } = this.catalog.current();
    const group = groups.get(caller.groupName);
    const model = models.get(name);
    if (model === undefined || !model.enabled) throw unknownModel(name);
    if (caller.models !== undefined && !caller.models.has(name))
      throw new AppError('permission_denied', `This key is not allowed to use the model "${name}".`, {
        param: 'model',
      });
    if (group === undefined || !model.groups.includes(group.name))
      throw unknownModel(name, ` in the group "${caller.groupName}" of this key`);
    return { group, model };
  }

  private requireChannel(
    call: Pick<Call, 'protocol' | 'head'>,
    group: string,
    model: string,
    unpriced: AppError | undefined,
  ): void {
    const channels = this.channels.serving(group, model);
    const taking = channels.filter((channel) => takesCalls(channel, call.protocol));
    const misfits = taking.map((channel) => misfitOf(channel, call, unpriced));
    if (misfits.includes(undefined)) return;
    if (misfits[0] !== undefined) throw misfits[0];
    const [channel] = channels;
    if (channel === undefined) throw NoChannel.for(model);
    throw new AppError(
      'invalid_request',
      `The model "${model}" is not available at this endpoint: its channels accept only ${channel.protocol}.`,
      { param: 'model' },
    );
  }

  /** The models that the caller can call now, newest first, then by name. */
  listed(caller: Caller): readonly ListedModel[] {
    return this.offer
      .modelsOf(caller.groupName)
      .map(({ model }) => model)
      .filter((model) => caller.models?.has(model.name) ?? true)
      .map(({ name, displayName, ownedBy, createdAt }) => ({ id: name, displayName, ownedBy, createdAt }));
  }

  /** @throws AppError model_not_found when the caller has no such model */
  find(caller: Caller, id: string): ListedModel {
    const model = this.listed(caller).find((listed) => listed.id === id);
    if (model === undefined) throw unknownModel(id);
    return model;
  }
}

const unknownModel = (name: string, where = ''): AppError =>
  new AppError(
    'model_not_found',
    `The model "${maskKeys(name)}" does not exist${where}. GET /v1/models lists the models of this key.`,
    {
      param: 'model',
    },
  );

/** What a channel is looked at for. */
type Asking = Pick<Call, 'protocol' | 'head'>;

/**
 * Why a channel that serves the model must not be asked for what the request demands beside tokens; undefined when it
 * may. Ids of upstream state are not among it: these are looked up once the call is admitted.
 * @param unpriced what the client is told where its hosted tools would be run, and one has no fee
 */
export function misfitOf(
  channel: Channel,
  { protocol, head: { demands } }: Asking,
  unpriced?: AppError,
): AppError | undefined {
  if (demands === undefined) return undefined;
  const [unknown] = demands.unknownMembers;
  if (unknown !== undefined && refusesUnknownMembers(channel)) return new UnknownMember(unknown);
  // A translation leaves tools and other models out that the channel does not have, and says so.
  const isNative = channel.protocol === protocol;
  if (unpriced !== undefined && (isNative || hasHostedTools(channel))) return unpriced;
  const unmapped = isNative ? demands.models.find(({ name }) => !channel.models.has(name)) : undefined;
  return unmapped && new ServedElsewhere(unmapped.path, unmapped.name);
}

const hasHostedTools = ({ flags: { hostedWebSearch } }: Channel): boolean =>
  hostedWebSearch !== undefined && hostedWebSearch !== false;

/** The channel takes only what its vendor documents. */
class UnknownMember extends AppError {
  constructor(path: string) {
    super('invalid_request', `${path}: not supported by the upstream of this model. Remove it.`, {
      param: path,
      fault: 'unsupported_parameter',
    });
  }
}

/** No upstream has both models under one account. */
class ServedElsewhere extends AppError {
  constructor(path: string, name: string) {
    super(
      'invalid_request',
      `${path}: the model ${JSON.stringify(name)} is not served by the same upstream as the model of this request.`,
      { param: path },
    );
  }
}
