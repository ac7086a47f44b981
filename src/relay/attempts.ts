import { Injectable } from '@nestjs/common';
import { type Observable, catchError, defer, from, switchMap, throwError } from 'rxjs';
import type { Admission, Ticket } from '../billing/index.js';
import type { Frame, ProtocolAdapter, TreeObject } from '../call/index.js';
import { AppError } from '../shared/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import type { Answer } from './answer.js';
import { AnswerMemory } from './answer-memory.js';
import { Exchange } from './exchange.js';
import { ModelAccess, noChannel } from './model-access.js';
import { NotForThisChannel } from './prepared-request.js';
import type { Recollection } from './recollection.js';
import { Translations, type Translator } from './translations.js';

/** More channels than this are not tried for one call: clients try again themselves. */
const MAX_ATTEMPTS = 3;

/** An admitted call that is being answered. */
export interface RunningCall {
  readonly ticket: Ticket;
  readonly admission: Admission;
  readonly answer: Answer;
  /** Who words the answer; the request is in the call's own dialect. */
  readonly protocol: ProtocolAdapter;
}

/** Gets the answer to an admitted call: from the first channel that gives one. */
@Injectable()
export class Attempts {
  constructor(
    private readonly models: ModelAccess,
    private readonly exchange: Exchange,
    private readonly translations: Translations,
    private readonly memory: AnswerMemory,
    private readonly adapters: AdapterRegistry,
  ) {}

  /** Cold. Another channel is tried only before anything of an answer has been let go, and never the same one twice. */
  frames(running: RunningCall): Observable<Frame> {
    return defer(() => {
      const { ticket, admission } = running;
      const { call } = ticket;
      let tree: TreeObject | undefined;
      const request = (): TreeObject => (tree ??= this.translations.read(call));
      const asked = this.adapters.protocol(call.protocol);
      const recalling = this.memory.recall(call, admission.plan.caller, asked, request);
      if (recalling === undefined) return this.firstOf(running, request);
      return from(recalling).pipe(switchMap((recollection) => this.firstOf(running, request, recollection)));
    });
  }

  private firstOf(running: RunningCall, request: () => TreeObject, recollection?: Recollection): Observable<Frame> {
    const { answer, admission, ticket } = running;
    const { group, model } = admission.plan;
    const channels = this.models
      .candidates(ticket.call.protocol, group.name, model.name)
      .filter((channel) => recollection?.admits(channel) ?? true)
      .slice(0, MAX_ATTEMPTS);
    const translator = this.translatorOf(running, request, recollection);
    /** @param before why the channel before this one did not answer */
    const attempt = (index: number, before?: AppError): Observable<Frame> => {
      const channel = channels[index];
      if (channel === undefined) return throwError(() => noChannel(model.name));
      return this.exchange.frames(running, channel, translator).pipe(
        catchError((thrown: unknown) => {
          const isUnfit = thrown instanceof NotForThisChannel;
          // One that was asked and failed may answer when the client tries again.
          const error = isUnfit ? (before ?? thrown.reason) : AppError.from(thrown);
          const mayAnother = isUnfit || error.details.failover === true;
          const another = mayAnother && !answer.committed && index + 1 < channels.length;
          return another ? attempt(index + 1, isUnfit ? before : error) : throwError(() => error);
        }),
      );
    };
    return attempt(0);
  }

  private translatorOf(
    { ticket: { call }, admission, protocol }: RunningCall,
    request: () => TreeObject,
    recollection: Recollection | undefined,
  ): Translator {
    const { caller } = admission.plan;
    return this.translations.translator(() => {
      const expanded = recollection?.expanded() ?? request();
      return { call, protocol, caller, request: request(), expanded };
    });
  }
}
