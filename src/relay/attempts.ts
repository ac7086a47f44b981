import { Injectable } from '@nestjs/common';
import { type Observable, catchError, defer, throwError } from 'rxjs';
import type { Admission, Ticket } from '../billing/index.js';
import type { Frame } from '../call/index.js';
import { type Channel, UpstreamClient } from '../channels/index.js';
import { AppError } from '../shared/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import type { Answer } from './answer.js';
import { ModelAccess, noChannel } from './model-access.js';
import { RelayTimings } from './relay-timings.js';
import { UsageCounting } from './usage-counting.js';
import { verbatimLane } from './verbatim-lane.js';
import { timeLimits, watchAttempt } from './watched-attempt.js';

/** More channels than this are not tried for one call: clients try again themselves. */
const MAX_ATTEMPTS = 3;

/** Gets the answer to an admitted call: from the first channel that gives one. */
@Injectable()
export class Attempts {
  constructor(
    private readonly adapters: AdapterRegistry,
    private readonly models: ModelAccess,
    private readonly client: UpstreamClient,
    private readonly timings: RelayTimings,
    private readonly counting: UsageCounting,
  ) {}

  /** Cold. Another channel is tried only before anything of an answer has been let go, and never the same one twice. */
  frames(ticket: Ticket, admission: Admission, answer: Answer): Observable<Frame> {
    const { call } = ticket;
    const { group, model } = admission.plan;
    const channels = this.models.candidates(call.protocol, group.name, model.name).slice(0, MAX_ATTEMPTS);
    const from = (index: number): Observable<Frame> => {
      const channel = channels[index];
      if (channel === undefined) return throwError(() => noChannel(model.name));
      return this.attempt(ticket, admission, channel, answer).pipe(
        catchError((thrown: unknown) => {
          const error = AppError.from(thrown);
          const another = error.details.failover === true && !answer.committed && index + 1 < channels.length;
          return another ? from(index + 1) : throwError(() => error);
        }),
      );
    };
    return from(0);
  }

  private attempt(ticket: Ticket, admission: Admission, channel: Channel, answer: Answer): Observable<Frame> {
    return defer(() => {
      const { call } = ticket;
      const adapter = this.adapters.upstream(channel.protocol);
      const upstreamModel = channel.models.get(admission.plan.model.name)?.[0] ?? admission.plan.model.name;
      const request = adapter.rewriteRequest(call, {
        model: upstreamModel,
        outputLimit: admission.outputLimit,
        flags: channel.flags,
      });
      const attempt = ticket.beginAttempt(channel, upstreamModel);
      answer.tail = {};
      answer.dropBody();
      const limits = timeLimits(channel.timeouts, call.head.stream, this.timings.preludeMs);
      return this.client.open(channel, channel.credentials[0], request, answer.flow).pipe(
        verbatimLane({
          call,
          adapter,
          answer,
          attempt,
          timings: this.timings,
          counting: this.counting,
          reportsUsage: this.counting.isReporting(channel, upstreamModel),
        }),
        watchAttempt({ attempt, answer, ...limits, onFinished: () => this.learn(ticket, channel, upstreamModel) }),
      );
    });
  }

  /** An unstreamed answer is whole when it ends, whatever its upstream is used to. */
  private learn(ticket: Ticket, channel: Channel, upstreamModel: string): void {
    if (!ticket.call.head.stream) return;
    this.counting.learn(channel, upstreamModel, ticket.isReported);
  }
}
