import { Injectable } from '@nestjs/common';
import { defer, Observable, using } from 'rxjs';
import { type Channel, ChannelDirectory, refusesUnknownMembers, takesCalls } from '../catalog/channels/index.js';
import { CatalogService, Offer } from '../catalog/index.js';
import type { Caller } from '../keys/index.js';
import { AppError, maskKeys } from '../platform/shared/index.js';
import type { Call, CallHead, Frame, ListedModel, ProtocolAdapter } from '../protocols/contract/index.js';
import {
  type Admission,
  type BillingPlan,
  likelyPromptTokens,
  IdempotencyKeys,
  requirePrices,
  type Ticket,
  unpricedTool,
} from './billing/index.js';
import type { ReplyState } from './call-context.js';
import { CallLimits } from './call-limits.js';
import { RelayMetrics } from './replies.js';
import { NoChannel } from './routing/index.js';

/** Decides which models a caller may use. */
@Injectable()
export class ModelAccess {
  constructor(
    private readonly catalog: CatalogService,
    private readonly channels: ChannelDirectory,
    private readonly offer: Offer,
  ) {}

  /**
   * The billing plan of a call.
   * @throws AppError when the model is unknown, not allowed for the key, unavailable, or lacks a price
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

  /** Other models named by the request; the caller must have access to each. */
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

  /** A model and the group it is used in. @throws AppError when it is unknown or not allowed for the key */
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

  /** The caller's available models, newest first, then by name. */
  listed(caller: Caller): readonly ListedModel[] {
    return this.offer
      .modelsOf(caller.groupName)
      .map(({ model }) => model)
      .filter((model) => caller.models?.has(model.name) ?? true)
      .map(({ name, displayName, ownedBy, createdAt, contextWindow, maxOutputTokens }) => ({
        id: name,
        displayName,
        ownedBy,
        createdAt,
        contextWindow,
        maxOutputTokens,
      }));
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

/**
 * Why a channel is unsuitable for what the request demands besides tokens; undefined if it is suitable. References to
 * upstream state are resolved after admission.
 * @param unpriced error for hosted tools without a fee
 */
export function misfitOf(
  channel: Channel,
  { protocol, head: { demands } }: Pick<Call, 'protocol' | 'head'>,
  unpriced?: AppError,
): AppError | undefined {
  if (demands === undefined) return undefined;
  const [unknown] = demands.unknownMembers;
  if (unknown !== undefined && refusesUnknownMembers(channel)) return new UnknownMember(unknown);
  // A translation drops unsupported tools and models with a warning.
  const isNative = channel.protocol === protocol;
  if (unpriced !== undefined && (isNative || hasHostedTools(channel))) return unpriced;
  const unmapped = isNative ? demands.models.find(({ name }) => !channel.models.has(name)) : undefined;
  return unmapped && new ServedElsewhere(unmapped.path, unmapped.name);
}

const hasHostedTools = ({ flags: { hostedWebSearch } }: Channel): boolean =>
  hostedWebSearch !== undefined && hostedWebSearch !== false;

/** The channel accepts documented members only. */
class UnknownMember extends AppError {
  constructor(path: string) {
    super('invalid_request', `${path}: not supported by the upstream of this model. Remove it.`, {
      param: path,
      fault: 'unsupported_parameter',
    });
  }
}

/** No upstream account has both models. */
class ServedElsewhere extends AppError {
  constructor(path: string, name: string) {
    super(
      'invalid_request',
      `${path}: the model ${JSON.stringify(name)} is not served by the same upstream as the model of this request.`,
      { param: path },
    );
  }
}

/** A call to be admitted. */
interface PendingCall {
  readonly ticket: Ticket;
  readonly response: ReplyState;
  /** Of the protocol of the response, which reports remaining limits. */
  readonly responseAdapter: ProtocolAdapter;
  /** The client's idempotency key, with the ID of the API key. */
  readonly idempotencyKey: string | undefined;
}

/** Admits calls: resolves model and prices, applies rate limits, then asks billing for the hold. */
@Injectable()
export class AdmissionControl {
  constructor(
    private readonly models: ModelAccess,
    private readonly limits: CallLimits,
    private readonly idempotencyKeys: IdempotencyKeys,
    private readonly metrics: RelayMetrics,
  ) {}

  /**
   * Cold. Calls `run` for the admitted call, which counts as running until that ends or is unsubscribed.
   * @throws AppError when the call is rejected, or another process runs a call with the same idempotency key
   */
  admit(pending: PendingCall, run: (admission: Admission) => Observable<Frame>): Observable<Frame> {
    const { ticket, idempotencyKey } = pending;
    const { head, protocol } = ticket.call;
    if (head.demands !== undefined) this.metrics.countUnknown(protocol, head.demands.unknownMembers);
    const withinLimits = (): Observable<Frame> => this.limited(pending, run);
    if (idempotencyKey === undefined) return withinLimits();
    return this.idempotencyKeys.runExclusively(idempotencyKey, ticket.call.id, withinLimits);
  }

  /** Counts a request that shares another call's response. @throws RateLimited */
  async countRepetition(call: Call, caller: Caller): Promise<void> {
    await this.limits.countRequest(call, caller);
  }

  private limited(
    { ticket, response, responseAdapter }: PendingCall,
    run: (admission: Admission) => Observable<Frame>,
  ): Observable<Frame> {
    const { call, caller } = ticket;
    const placeHold = (): Observable<Frame> =>
      onceResolved(
        ticket.admit((current) => this.models.plan(call, current)),
        run,
      );
    const subjects = this.limits.subjectsOf(caller, call.ip);
    if (subjects === undefined) return placeHold();
    return defer(() => {
      // Calls without access to the model are not counted.
      const { model } = this.models.plan(call, caller);
      const promptTokens = likelyPromptTokens(call.head.size, model.contextWindow);
      const limited = this.limits.acquire(ticket, subjects, promptTokens);
      const permitted = onceResolved(limited.permit, ({ statuses }) => {
        Object.assign(response.headers, responseAdapter.renderLimits(statuses));
        return placeHold();
      });
      return using(
        () => limited,
        () => permitted,
      );
    });
  }
}

/** Continues with the value of a promise, and passes frames on without an operator between. */
export const onceResolved = <T>(promise: Promise<T>, run: (value: T) => Observable<Frame>): Observable<Frame> =>
  new Observable((out) => {
    const go = (value: T): unknown => (out.closed ? undefined : run(value).subscribe(out));
    promise.then(go).catch((error: unknown) => out.error(error));
  });
