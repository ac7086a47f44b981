import { Injectable } from '@nestjs/common';
import { type Channel, upstreamModel } from '../catalog/channels/index.js';
import { CatalogService } from '../catalog/index.js';
import { type Caller, KeyAuthenticator } from '../keys/index.js';
import type { Subject } from '../platform/limits/index.js';
import { AppError, Clock, newId } from '../platform/shared/index.js';
import { type Call, type Effort, jsonInterests, type ProtocolId, readJsonFields } from '../protocols/contract/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import {
  AdmissionTrial,
  type BillingPlan,
  likelyPromptTokens,
  type PriceTerms,
  termsOf,
  type TriedAdmission,
} from './billing/index.js';
import { CallLimits } from './call-limits.js';
import { ModelAccess } from './model-access.js';
import { passesVerbatim } from './prepared-request.js';
import { ChannelSelection, type ModelOutlook, type Prospect } from './routing/index.js';

/** Who would make a call: a key, or, where none is named, a new key of the account that has no settings of its own. */
type DryCaller = { readonly keyId: string } | { readonly newKeyOf: string };

/** What is known of a call that nobody makes. */
type DryCall = Pick<Call, 'id' | 'createdAt' | 'protocol' | 'head' | 'ip'>;

/**
 * What would be decided about a call before any upstream is asked. Every step is taken, also behind one that refuses, as
 * far as it can be: a real call hears the first refusal.
 */
interface DryAdmission {
  readonly caller: Caller;
  /** Of the key or the account, wherever it is used. */
  readonly keyRefusal: AppError | undefined;
  /** What the call is billed as; undefined when the model refuses it. */
  readonly plan: BillingPlan | undefined;
  readonly modelRefusal: AppError | undefined;
  /** What the call would be priced by, in the dearest service tier that it may be answered in; undefined without a plan. */
  readonly terms: PriceTerms | undefined;
  /** Who is counted, and their limits; undefined when nobody of them has any. */
  readonly subjects: readonly Subject[] | undefined;
  /** It asks for more than a limit ever allows. What others use of the limits meanwhile is not looked at. */
  readonly limitRefusal: AppError | undefined;
  /** Undefined without a plan, and where the key may not be used: then nobody asks for money. */
  readonly money: TriedAdmission | undefined;
}

/** Asks of everything that admits calls what it would say to one. */
@Injectable()
export class DryAdmissions {
  constructor(
    private readonly keys: KeyAuthenticator,
    private readonly models: ModelAccess,
    private readonly limits: CallLimits,
    private readonly trial: AdmissionTrial,
  ) {}

  /** Undefined when there is no such key or account. @throws AppError `unavailable` when the database does not answer */
  async of(call: DryCall, who: DryCaller): Promise<DryAdmission | undefined> {
    const isNewKey = 'newKeyOf' in who;
    const examined = await (isNewKey ? this.keys.examineNewKeyOf(who.newKeyOf) : this.keys.examine(who.keyId));
    if (examined === undefined) return undefined;
    const { caller, refusal: keyRefusal } = examined;
    const planned = this.planned(call, caller);
    const plan = planned instanceof AppError ? undefined : planned;
    const subjects = this.limits.subjectsOf(caller, call.ip);
    return {
      caller,
      keyRefusal,
      plan,
      modelRefusal: planned instanceof AppError ? planned : undefined,
      terms: plan && termsOf(call, plan),
      subjects,
      limitRefusal: plan && subjects && this.limitRefusal(call, plan, subjects),
      money: plan && keyRefusal === undefined ? await this.trial.of(call, plan, isNewKey) : undefined,
    };
  }

  private planned(call: DryCall, caller: Caller): BillingPlan | AppError {
    try {
      return this.models.plan(call, caller);
    } catch (error) {
      if (error instanceof AppError) return error;
      throw error;
    }
  }

  private limitRefusal(
    { id, head }: DryCall,
    { model }: BillingPlan,
    subjects: readonly Subject[],
  ): AppError | undefined {
    const tokens = likelyPromptTokens(head.size, model.contextWindow);
    return this.limits.refusalOfAlone({ id, subjects, tokens, runs: true });
  }
}

/** A call that is thought of: what of it decides whether it is admitted, what it costs and where it goes. */
export interface DryRunQuestion {
  readonly who: DryCaller;
  readonly model: string;
  /** The dialect of its client. */
  readonly protocol: ProtocolId;
  readonly stream: boolean;
  readonly effort: Effort | undefined;
  /** How long its prompt is, as it is estimated of a body: four bytes are a token. */
  readonly promptTokens: number;
  readonly outputLimit: number | undefined;
}

/** A channel that the call would ask, and how. */
export interface DryRoute extends Prospect {
  /** What the model is called there. */
  readonly upstreamModel: string;
  /** The call goes up in other words than its client's. */
  readonly isTranslated: boolean;
}

/** What would become of the call. */
export interface DryRunResult extends DryAdmission {
  readonly outlook: ModelOutlook;
  /** In the order in which they are likely to be asked. */
  readonly routes: readonly DryRoute[];
  /** The first of all refusals: what the client would be told. Undefined: a channel would be asked. */
  readonly refusal: AppError | undefined;
  /** When all of it was so, in milliseconds since 1970. */
  readonly askedAt: number;
}

const BYTES_PER_TOKEN = 4;
const NO_FIELDS = readJsonFields(Buffer.from('{}'), jsonInterests());

/**
 * Tells what would become of a call, by asking everything that decides about calls. Nothing is held, counted or sent, and
 * no row is left. Health and load are those of this process.
 */
@Injectable()
export class DryRun {
  constructor(
    private readonly admissions: DryAdmissions,
    private readonly channels: ChannelSelection,
    private readonly adapters: AdapterRegistry,
    private readonly catalog: CatalogService,
    private readonly clock: Clock,
  ) {}

  /** Undefined when there is no such key or account. @throws AppError `unavailable` when the database does not answer */
  async of(question: DryRunQuestion): Promise<DryRunResult | undefined> {
    await this.catalog.reload();
    const call = this.callOf(question);
    const admission = await this.admissions.of(call, question.who);
    if (admission === undefined) return undefined;
    const { caller, keyRefusal, modelRefusal, limitRefusal, money } = admission;
    const { model, protocol } = question;
    const { groupName: group, accountId } = caller;
    const outlook = this.channels.outlook({ group, model, protocol, affinity: undefined, accountId });
    return {
      ...admission,
      outlook,
      routes: outlook.prospects.map((prospect) => ({
        ...prospect,
        upstreamModel: upstreamModel(prospect.channel, model),
        isTranslated: !this.passesVerbatim(call, prospect.channel),
      })),
      askedAt: call.createdAt,
      refusal: keyRefusal ?? modelRefusal ?? limitRefusal ?? money?.refusal ?? outlook.shortage,
    };
  }

  private callOf({ model, protocol, stream, effort, promptTokens, outputLimit }: DryRunQuestion): DryCall {
    const createdAt = this.clock.now();
    const size = { bytes: promptTokens * BYTES_PER_TOKEN, encodedBytes: 0, images: 0 };
    const head = { model, stream, effort, outputLimit, answers: 1, size, fields: NO_FIELDS };
    // Whoever has no address is counted under none.
    return { id: newId('req', createdAt), createdAt, protocol, head, ip: '' };
  }

  private passesVerbatim(call: DryCall, channel: Channel): boolean {
    return passesVerbatim(call, call.protocol, channel, this.adapters.upstream(channel.protocol));
  }
}
