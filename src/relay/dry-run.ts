import { Injectable } from '@nestjs/common';
import { upstreamModel } from '../catalog/channels/index.js';
import { CatalogService } from '../catalog/index.js';
import { type Caller, KeyAuthenticator } from '../keys/index.js';
import type { Subject } from '../platform/limits/index.js';
import { AppError, Clock, newId } from '../platform/shared/index.js';
import { type Call, type Effort, jsonInterests, type ProtocolId, readJsonFields } from '../protocols/contract/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { ModelAccess } from './admission-control.js';
import {
  AdmissionTrial,
  type BillingPlan,
  likelyPromptTokens,
  type PriceTerms,
  termsOf,
  type AdmissionTrialResult,
} from './billing/index.js';
import { CallLimits } from './call-limits.js';
import { passesVerbatim } from './prepared-request.js';
import { ChannelSelection, type ModelOutlook, type Prospect } from './routing/index.js';

/** A key, or a new key with default settings of an account. */
type DryCaller = { readonly keyId: string } | { readonly newKeyOf: string };

/** Properties of a hypothetical call. */
type DryCall = Pick<Call, 'id' | 'createdAt' | 'protocol' | 'head' | 'ip'>;

/**
 * The decisions about a call before it is sent upstream. All steps are evaluated as far as possible, even
 * after one that rejects; a real call returns the first error.
 */
interface DryAdmission {
  readonly caller: Caller;
  /** Because of the key or the account, regardless of the address. */
  readonly keyRefusal: AppError | undefined;
  /** Undefined when the model is rejected. */
  readonly plan: BillingPlan | undefined;
  readonly modelRefusal: AppError | undefined;
  /** The most expensive terms the call could be billed by; undefined without a plan. */
  readonly terms: PriceTerms | undefined;
  /** Subjects and their limits; undefined if none has a limit. */
  readonly subjects: readonly Subject[] | undefined;
  /** The call exceeds a limit by itself. Current usage of limits is not considered. */
  readonly limitRefusal: AppError | undefined;
  /** Undefined without a plan or if the key is not usable. */
  readonly money: AdmissionTrialResult | undefined;
}

/** Asks all parts of admission about a hypothetical call. */
@Injectable()
export class AdmissionDryRun {
  constructor(
    private readonly keys: KeyAuthenticator,
    private readonly models: ModelAccess,
    private readonly limits: CallLimits,
    private readonly trial: AdmissionTrial,
  ) {}

  /** Undefined if there is no such key or account. @throws AppError `unavailable` when the database does not respond */
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

/** A hypothetical call: what decides its admission, price and route. */
export interface DryRunInput {
  readonly who: DryCaller;
  readonly model: string;
  /** Protocol of the client. */
  readonly protocol: ProtocolId;
  readonly stream: boolean;
  readonly effort: Effort | undefined;
  /** Prompt length, converted to a body at four bytes per token. */
  readonly promptTokens: number;
  readonly outputLimit: number | undefined;
}

/** A channel that the call could use. */
export interface DryRoute extends Prospect {
  /** The upstream's name of the model. */
  readonly upstreamModel: string;
  /** Whether the call would be translated. */
  readonly isTranslated: boolean;
}

/** The result for a hypothetical call. */
export interface DryRunResult extends DryAdmission {
  readonly outlook: ModelOutlook;
  /** Most likely first. */
  readonly routes: readonly DryRoute[];
  /** The error that the client would get; undefined: a channel would be called. */
  readonly refusal: AppError | undefined;
  /** Time of the evaluation, Unix ms. */
  readonly evaluatedAt: number;
}

const BYTES_PER_TOKEN = 4;
const NO_FIELDS = readJsonFields(Buffer.from('{}'), jsonInterests());

/** Dry-runs a call. Holds, counts, sends and records nothing. Health and load are those of this process. */
@Injectable()
export class DryRun {
  constructor(
    private readonly admissions: AdmissionDryRun,
    private readonly channels: ChannelSelection,
    private readonly adapters: AdapterRegistry,
    private readonly catalog: CatalogService,
    private readonly clock: Clock,
  ) {}

  /** Undefined if there is no such key or account. @throws AppError `unavailable` when the database does not respond */
  async of(input: DryRunInput): Promise<DryRunResult | undefined> {
    await this.catalog.reload();
    const call = this.callOf(input);
    const admission = await this.admissions.of(call, input.who);
    if (admission === undefined) return undefined;
    const { caller, keyRefusal, modelRefusal, limitRefusal, money } = admission;
    const { model, protocol } = input;
    const { groupName: group, accountId } = caller;
    const outlook = this.channels.outlook({ group, model, protocol, affinity: undefined, accountId });
    return {
      ...admission,
      outlook,
      routes: outlook.prospects.map((prospect) => ({
        ...prospect,
        upstreamModel: upstreamModel(prospect.channel, model),
        isTranslated: !passesVerbatim(
          call,
          protocol,
          prospect.channel,
          this.adapters.upstreamAdapter(prospect.channel.protocol),
        ),
      })),
      evaluatedAt: call.createdAt,
      refusal: keyRefusal ?? modelRefusal ?? limitRefusal ?? money?.refusal ?? outlook.shortage,
    };
  }

  private callOf({ model, protocol, stream, effort, promptTokens, outputLimit }: DryRunInput): DryCall {
    const createdAt = this.clock.now();
    const size = { bytes: promptTokens * BYTES_PER_TOKEN, encodedBytes: 0, images: 0 };
    const head = { model, stream, effort, outputLimit, choices: 1, size, fields: NO_FIELDS };
    // Without an address, address limits do not apply.
    return { id: newId('req', createdAt), createdAt, protocol, head, ip: '' };
  }
}
