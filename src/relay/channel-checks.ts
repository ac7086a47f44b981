import { Injectable } from '@nestjs/common';
import { tap } from 'rxjs';
import { type Channel, type ChannelCredential, ChannelDirectory } from '../catalog/channels/index.js';
import { CatalogService } from '../catalog/index.js';
import { Notifications, TOPICS } from '../platform/database/index.js';
import { AppError, isJsonObject, monotonicMs, reasonOf } from '../platform/shared/index.js';
import {
  type CallContent,
  classifyInnerError,
  Flow,
  type TokenUsage,
  type UpstreamAdapter,
  type UpstreamModel,
  type UpstreamRequest,
} from '../protocols/contract/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { collected, type CollectedResponse, jsonOf } from './collected-response.js';
import { CheckCalls, type CheckTarget } from './routing/index.js';
import { UpstreamClient } from './upstream/upstream-client.js';

/** Result of a minimal call. */
export interface CheckResult {
  readonly answered: boolean;
  /** HTTP status; absent if the upstream did not respond. */
  readonly status?: number;
  /** The reply or the error, for administrators. */
  readonly message: string;
  readonly durationMs: number;
  /** Time to first byte; absent if there was none. */
  readonly firstByteMs?: number;
  /** Absent if not reported. */
  readonly usage?: Pick<TokenUsage, 'input' | 'output'>;
}

/** Reasoning models need some time even for one word. */
const CHECK_TIMEOUT_MS = 60_000;
/** Max characters of an upstream's message. */
const MAX_MESSAGE_LENGTH = 300;

/** An error response, with the upstream's own message. */
class UpstreamRejection extends AppError {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super('upstream_error', `${status}: ${message}`);
  }
}

/**
 * Sends the relay's own requests to upstreams, for administrators and channel health, also through channels that are
 * not stored. They leave no rows.
 */
@Injectable()
export class ChannelChecks {
  constructor(
    private readonly adapters: AdapterRegistry,
    private readonly client: UpstreamClient,
    checks: CheckCalls,
  ) {
    checks.send = (target) => this.errorOf(target);
  }

  /**
   * Sends a minimal call (about one token) with the channel's first credential.
   * @param model upstream name
   */
  async check(channel: Channel, model: string): Promise<CheckResult> {
    const begunMs = monotonicMs();
    const elapsedMs = (): number => Math.round(monotonicMs() - begunMs);
    let firstByteMs: number | undefined;
    const durations = (): Pick<CheckResult, 'durationMs' | 'firstByteMs'> => ({
      durationMs: elapsedMs(),
      ...(firstByteMs !== undefined && { firstByteMs }),
    });
    try {
      const adapter = this.adapters.upstreamAdapter(channel.protocol);
      const response = await this.ask(channel, adapter.probeRequest(model), () => (firstByteMs ??= elapsedMs()));
      const usage = usageIn(response, adapter);
      return {
        answered: true,
        status: response.status,
        message: `status ${response.status}`,
        ...durations(),
        ...(usage && { usage }),
      };
    } catch (error) {
      const status = error instanceof UpstreamRejection ? { status: error.status } : {};
      return { answered: false, ...status, message: messageOf(error), ...durations() };
    }
  }

  /** The upstream's models by name. @throws AppError saying why they could not be listed */
  async models(channel: Channel): Promise<readonly UpstreamModel[]> {
    const { modelListing } = this.adapters.upstreamAdapter(channel.protocol);
    if (modelListing === undefined) throw new AppError('upstream_error', 'This protocol has no model list.');
    try {
      const response = await this.ask(channel, modelListing.request);
      const models = new Map(modelListing.read(jsonOf(response)).map((model) => [model.name, model]));
      return [...models.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
    } catch (error) {
      throw new AppError('upstream_error', messageOf(error), {}, { cause: error });
    }
  }

  /** Error of a minimal call with one credential, classified as for clients; undefined if it succeeds. */
  private async errorOf({ channel, credential, model }: CheckTarget): Promise<AppError | undefined> {
    try {
      const adapter = this.adapters.upstreamAdapter(channel.protocol);
      const response = await this.send(channel, credential, adapter.probeRequest(model));
      const error = errorIn(response, adapter);
      if (error === undefined) decoded(response, adapter);
      return error;
    } catch (thrown) {
      const error = AppError.from(thrown);
      // For this call, a silent upstream counts as failed.
      return error.kind === 'timeout' ? new AppError('timeout', error.message, { failover: true }) : error;
    }
  }

  private async ask(channel: Channel, request: UpstreamRequest, onByte?: () => unknown): Promise<CollectedResponse> {
    const response = await this.send(channel, channel.credentials[0], request, onByte);
    const error = errorIn(response, this.adapters.upstreamAdapter(channel.protocol));
    if (error === undefined) return response;
    throw new UpstreamRejection(response.status, ownText(jsonOf(response), channel) ?? error.message);
  }

  private send(
    channel: Channel,
    credential: ChannelCredential | undefined,
    request: UpstreamRequest,
    onByte = (): unknown => undefined,
  ): Promise<CollectedResponse> {
    const parts = this.client.open(channel, credential, request, new Flow());
    return collected(parts.pipe(tap(({ type }) => (type === 'chunk' ? onByte() : undefined))), CHECK_TIMEOUT_MS);
  }
}

/** Error in the response; undefined if it succeeded. */
function errorIn(response: CollectedResponse, adapter: UpstreamAdapter): AppError | undefined {
  const { status, headers } = response;
  const body = jsonOf(response);
  if (status < 200 || status >= 300 || !isJsonObject(body)) return adapter.classifyError(status, headers, body);
  return isJsonObject(body['error']) ? classifyInnerError(body) : undefined;
}

/** Administrators may see the details. */
function messageOf(error: unknown): string {
  const { message, cause } = AppError.from(error);
  return cause === undefined ? message : `${message.replace(/\.$/, '')} (${reasonOf(cause)}).`;
}

/** The upstream's own message for administrators, with the secret removed. */
function ownText(body: unknown, { credentials }: Channel): string | undefined {
  const error = isJsonObject(body) ? body['error'] : undefined;
  const message = isJsonObject(error) ? error['message'] : undefined;
  if (typeof message !== 'string') return undefined;
  const masked = credentials.reduce((text, { secret }) => text.replaceAll(secret.reveal(), '[secret]'), message);
  return masked.slice(0, MAX_MESSAGE_LENGTH);
}

/** @throws AppError when it cannot be parsed */
function decoded(response: CollectedResponse, adapter: UpstreamAdapter): ReturnType<UpstreamAdapter['decodeResponse']> {
  const target = {
    model: '',
    outputLimit: undefined,
    flags: {},
    stream: false,
    maxOutputTokens: 1,
    mayStore: false,
    family: '',
  };
  return adapter.decodeResponse(Buffer.concat(response.chunks).toString('utf8'), GREETING, target);
}

function usageIn(response: CollectedResponse, adapter: UpstreamAdapter): TokenUsage | undefined {
  try {
    return decoded(response, adapter).usage;
  } catch {
    // An unreadable response is enough for a check.
    return undefined;
  }
}

/** The content of the minimal call, as far as decoding needs it. */
const GREETING: CallContent = {
  lead: [],
  turns: [{ role: 'user', parts: [{ kind: 'text', text: 'Hi' }] }],
  tools: [],
  hostedTools: [],
  toolChoice: { mode: 'auto' },
  parallelTools: undefined,
  outputLimit: 1,
  stop: [],
  sampling: {},
  reasoning: { show: 'none' },
  format: { kind: 'text' },
  verbosity: undefined,
  endUser: undefined,
  cacheKey: undefined,
  serviceTier: undefined,
};

/** Result of probing a channel. */
export interface ProbeResult extends Pick<CheckResult, 'answered' | 'message' | 'durationMs'> {
  readonly channel: string;
  /** Upstream name of the model; empty if the channel has none. */
  readonly model: string;
}

/** Probes channels with a minimal call, which costs about one token. */
@Injectable()
export class ChannelProbe {
  constructor(
    private readonly catalog: CatalogService,
    private readonly channels: ChannelDirectory,
    private readonly checks: ChannelChecks,
    private readonly notifications: Notifications,
  ) {}

  /** Makes this process probe for others: credentials may be in the server's environment. */
  serveRequests(): void {
    this.notifications.handle(TOPICS.probe, (name) => this.probe(String(name)));
  }

  /** All channels in turn, through a running server, or from here if none runs. */
  async *all(): AsyncIterable<ProbeResult> {
    await this.catalog.reload();
    for (const { name } of this.channels.all()) {
      const [response] = await this.notifications.ask(TOPICS.probe, name, CHECK_TIMEOUT_MS + 1000);
      yield (response as ProbeResult | undefined) ?? (await this.probe(name));
    }
  }

  private async probe(name: string): Promise<ProbeResult> {
    await this.catalog.reload();
    const channel = this.channels.all().find((candidate) => candidate.name === name);
    const model = channel?.models.values().next().value?.[0] ?? '';
    const failed = (message: string): ProbeResult => ({
      channel: name,
      model,
      answered: false,
      message,
      durationMs: 0,
    });
    if (channel === undefined) return failed('no such channel');
    if (channel.unavailableReason !== undefined) return failed(channel.unavailableReason);
    const { answered, message, durationMs } = await this.checks.check(channel, model);
    return { channel: name, model, answered, message, durationMs };
  }
}
