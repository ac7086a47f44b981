import { Injectable } from '@nestjs/common';
import { defer, from, type Observable, switchMap } from 'rxjs';
import type { Caller } from '../keys/index.js';
import { type Call, type Frame, headerOf, type TreeObject } from '../protocols/contract/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { unpricedTool } from './billing/index.js';
import { Failover } from './failover.js';
import { misfitOf } from './model-access.js';
import type { RunningCall } from './prepared-request.js';
import type { PreviousResponses } from './previous-responses.js';
import { admitsNamed, keeperOf, type NamedReferences, ResponseStore } from './response-store.js';
import { type Affinity, affinityOf, ChannelSelection } from './routing/index.js';
import { type Translatable, Translations } from './translations.js';

/** Serves an admitted call: resolves references to earlier responses and selects channels. */
@Injectable()
export class Attempts {
  constructor(
    private readonly channels: ChannelSelection,
    private readonly failover: Failover,
    private readonly translations: Translations,
    private readonly memory: ResponseStore,
    private readonly adapters: AdapterRegistry,
  ) {}

  /** Cold. */
  frames(running: RunningCall): Observable<Frame> {
    return defer(() => {
      const { ticket, admission } = running;
      const { call } = ticket;
      let tree: TreeObject | undefined;
      const request = (): TreeObject => (tree ??= this.translations.read(call));
      const asked = this.adapters.protocol(call.protocol);
      const { caller } = admission.plan;
      const names = (): ReturnType<Translations['named']> => this.translations.named(call, caller, request);
      const recalling = this.memory.recall(call, caller, asked, request, names);
      if (recalling === undefined) return this.firstOf(running, request);
      return from(recalling).pipe(switchMap((recalled) => this.firstOf(running, request, recalled)));
    });
  }

  private firstOf(running: RunningCall, request: () => TreeObject, named: NamedReferences = {}): Observable<Frame> {
    const { recollection, state } = named;
    const { admission, ticket } = running;
    const { group, model, caller, namedModels } = admission.plan;
    const unpriced = unpricedTool(ticket.call.head, [model, ...(namedModels?.values() ?? [])]);
    const selection = this.channels.for({
      group: group.name,
      model: model.name,
      protocol: ticket.call.protocol,
      affinity: affinityOfCall(ticket.call, caller),
      accountId: caller.accountId,
      admits: (channel) => admitsNamed(named, channel) && misfitOf(channel, ticket.call, unpriced) === undefined,
      keeper: keeperOf(named),
      preferred: recollection?.maker,
    });
    const translatable = this.translatable(running, request, recollection);
    const frames = this.failover.frames(running, selection, this.translations.translator(translatable));
    if (!selection.isEmpty) return frames;
    const refused = defer(() => {
      // A disabled or unsuitable channel still has its state: the client may retry later.
      const mayReturn = state?.isKnown === true && this.channels.has(state.keeper?.channelId ?? '');
      if (state !== undefined && !mayReturn) throw state.refusal;
      return frames;
    });
    if (recollection?.isKnown !== false) return refused;
    // Names the unknown reference.
    return from(this.translations.requireNamed(translatable)).pipe(switchMap(() => refused));
  }

  private translatable(
    { ticket: { call }, admission, protocol }: RunningCall,
    request: () => TreeObject,
    recollection: PreviousResponses | undefined,
  ): Translatable {
    const { caller } = admission.plan;
    const keepsInput = this.memory.keeps({ call, caller, protocol });
    return { call, protocol, caller, request, recollection, keepsInput };
  }
}

/** Headers that identify a conversation, most specific first. */
const SESSION_HEADERS = [
  'x-claude-code-session-id',
  'session-id',
  'thread-id',
  'x-session-id',
  'x-conversation-id',
  'session_id',
  'conversation_id',
] as const;
/** Longer values are truncated. */
const MAX_LENGTH = 256;

/**
 * A key that keeps the calls of a conversation on one channel, whose prompt cache knows the beginning; undefined if the
 * client sends nothing suitable. Cache keys take precedence over sessions, sessions over users. Scoped to the account,
 * because clients choose these values.
 */
export function affinityOfCall(
  { head, request }: Call,
  { accountId }: Pick<Caller, 'accountId'>,
): Affinity | undefined {
  const name = head.affinity?.cache ?? sessionIn(request) ?? head.affinity?.user;
  return name === undefined ? undefined : affinityOf(accountId, name.slice(0, MAX_LENGTH));
}

function sessionIn(request: Call['request']): string | undefined {
  for (const name of SESSION_HEADERS) {
    const value = headerOf(request, name);
    if (value !== undefined) return value;
  }
  return undefined;
}
