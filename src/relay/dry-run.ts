import { Injectable } from '@nestjs/common';
import { type Effort, jsonInterests, type ProtocolId, readJsonFields } from '../protocols/contract/index.js';
import { CatalogService } from '../catalog/index.js';
import { type Channel, upstreamModel } from '../catalog/channels/index.js';
import { ChannelSelection, type ModelOutlook, type Prospect } from './routing/index.js';
import { type AppError, Clock, newId } from '../platform/shared/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { type DryAdmission, DryAdmissions, type DryCall, type DryCaller } from './dry-admission.js';
import { passesVerbatim } from './prepared-request.js';

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
