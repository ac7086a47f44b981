import { Injectable } from '@nestjs/common';
import { firstValueFrom, map, type Observable } from 'rxjs';
import type { Caller } from '../keys/index.js';
import { AppError } from '../platform/shared/index.js';
import {
  type Call,
  type CallContent,
  type FinishedCompaction,
  TranslationWarnings,
  type ResponseReferences,
  type ProtocolAdapter,
  SplicedBody,
  type TreeObject,
  type UpstreamAdapter,
  type UpstreamRequest,
  type UpstreamTarget,
  writeJson,
} from '../protocols/contract/index.js';
import { TokenCounter } from '../protocols/tokens/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { countedPromptTokens, likelyPromptTokens } from './billing/index.js';
import { ReasoningSeal } from './reasoning-seal.js';
import type { PreviousResponses } from './state-access.js';
import {
  type BuiltRequest,
  readTree,
  type TranslationReply,
  type TranslationTask,
  unpacked,
} from './translation-job.js';
import { TranslationQueue, TranslationThread } from './translation-queue.js';
import { CallTranslation, type CompactionStep } from './call-translation.js';

/** Larger prompts are not counted for `message_start`: the count would be late and delay those for billing. */
const MAX_COUNTED_BYTES = 256 * 1024;

/** A parsed request. */
interface ParsedRequest {
  readonly content: CallContent;
  /** The part that responses repeat. */
  readonly request: TreeObject;
  readonly warnings: TranslationWarnings;
  readonly input: () => string | undefined;
  /** Undefined: determined by the content. */
  readonly compaction?: CompactionStep;
}

/** A call that may need translation. */
export interface Translatable {
  readonly call: Call;
  /** Of the protocol of the response; the request is in the call's own. */
  readonly responseAdapter: ProtocolAdapter;
  readonly caller: Caller;
  /** The original request, parsed on first use. */
  readonly request: () => TreeObject;
  /** Set if it refers to earlier responses. */
  readonly previous: PreviousResponses | undefined;
  /** Whether the response is stored, with all input. */
  readonly storesInput: boolean;
}

/** A request in the upstream's protocol, and the translation that reads its response. */
export interface TranslatedRequest {
  readonly request: UpstreamRequest;
  readonly translation: CallTranslation;
  readonly warnings: TranslationWarnings;
}

/** The two uses of a translation of one call. */
export interface Translator {
  /**
   * The request for an upstream of another protocol. Large requests are built in the translation thread, on
   * subscription.
   * @param finished compaction of the conversation, if it was compacted first
   * @throws AppError invalid_request naming what the protocol cannot express
   */
  build(
    adapter: UpstreamAdapter,
    target: UpstreamTarget,
    finished?: FinishedCompaction,
  ): TranslatedRequest | Observable<TranslatedRequest>;
  /**
   * For a response that is rendered although its request was sent verbatim, without warnings. Undefined if the request
   * uses features of its own protocol only.
   */
  ofResponse(): CallTranslation | undefined;
  /** The complete input for an upstream of the client's protocol, if earlier content is stored here. */
  completeInput(): string | undefined;
}

/** Creates translations of calls. */
@Injectable()
export class TranslationService {
  constructor(
    private readonly adapters: AdapterRegistry,
    private readonly reasoning: ReasoningSeal,
    private readonly counter: TokenCounter,
    private readonly queue: TranslationQueue,
    private readonly thread: TranslationThread,
  ) {}

  /** Parses a request into a tree. @throws AppError invalid_request when it is not JSON */
  read({ body, protocol }: Call): TreeObject {
    return readTree(body.bytes, this.adapters.clientAdapter(protocol));
  }

  /** The earlier responses that a request refers to. */
  references(
    call: Call,
    { accountId }: Caller,
    request: () => TreeObject,
  ): ResponseReferences | Promise<ResponseReferences> {
    const { storage } = this.adapters.clientAdapter(call.protocol);
    const inline = (): ResponseReferences =>
      storage?.referencesIn?.(request()) ?? { responseId: undefined, itemIds: [] };
    if (!this.isLarge(call)) return inline();
    const replies = this.run(accountId, call, { kind: 'names' });
    return firstValueFrom(replies.pipe(map((reply) => ('named' in reply ? reply.named : inline()))));
  }

  /** Resolves if everything referenced exists. @throws AppError naming what is missing */
  async requireReferenced({ call, caller, previous }: Translatable): Promise<void> {
    if (!this.isLarge(call, previous)) return void previous?.expanded();
    await firstValueFrom(this.run(caller.accountId, call, { kind: 'expand' }, previous));
  }

  /** Requests are translated once, for the first channel; large ones for each channel. */
  translator(translatable: Translatable): Translator {
    let translation: CallTranslation | undefined;
    const { call, previous } = translatable;
    const inline = (
      adapter: UpstreamAdapter,
      target: UpstreamTarget,
      finished?: FinishedCompaction,
    ): TranslatedRequest => {
      translation ??= this.open(translatable);
      const current = finished === undefined ? translation : translation.after(finished);
      return { ...current.build(adapter, target), translation: current };
    };
    return {
      build: (adapter, target, finished) => {
        if (!this.isLarge(call, previous)) return inline(adapter, target, finished);
        const replies = this.inThread(translatable, adapter, target, finished);
        return replies.pipe(
          map((reply) =>
            'built' in reply ? this.restore(translatable, reply.built, finished) : inline(adapter, target, finished),
          ),
        );
      },
      completeInput: () => previous?.completeInput(call),
      ofResponse: () => {
        // Parsing a large request only for another response form would stall streams.
        if (this.isLarge(call, previous)) return undefined;
        try {
          return this.open(translatable, false);
        } catch (error) {
          if (error instanceof AppError) return undefined;
          throw error;
        }
      },
    };
  }

  /** Too large to parse beside running streams. */
  private isLarge({ head: { size } }: Call, previous?: PreviousResponses): boolean {
    const { maxInlineBytes, maxInlineValues } = this.thread;
    return size.bytes + (previous?.length ?? 0) > maxInlineBytes || (size.values ?? 0) > maxInlineValues;
  }

  private inThread(
    { call, caller, previous, storesInput }: Translatable,
    upstream: UpstreamAdapter,
    target: UpstreamTarget,
    finished: FinishedCompaction | undefined,
  ): Observable<TranslationReply> {
    const { strict } = caller;
    const task = { kind: 'build', upstream: upstream.id, target, strict, storesInput, finished } as const;
    return this.run(caller.accountId, call, task, previous);
  }

  private run(
    accountId: string,
    { id, createdAt, protocol, request, transport, ip, head, body }: Call,
    task: TranslationTask,
    previous?: PreviousResponses,
  ): Observable<TranslationReply> {
    const job = { ...task, call: { id, createdAt, protocol, request, transport, ip }, found: previous?.found };
    const referencedLength = previous?.length ?? 0;
    return this.queue.run({ accountId, job, body, values: head.size.values ?? 0, referencedLength });
  }

  private restore(
    translatable: Translatable,
    built: BuiltRequest,
    finished: FinishedCompaction | undefined,
  ): TranslatedRequest {
    const { caller } = translatable;
    const warnings = TranslationWarnings.of(built.warnings, caller.strict);
    const shown = unpacked(built.shown);
    const input = (): string | undefined => built.input;
    const { compaction } = built;
    const content = unpacked(built.content);
    const opened = this.translationOf(translatable, { content, request: shown, warnings, input, compaction });
    const translation = finished === undefined ? opened : opened.after(finished);
    const body = new SplicedBody({ bytes: Buffer.from(built.body.buffer as ArrayBuffer) });
    return { request: { ...built.request, body }, translation, warnings };
  }

  private open(translatable: Translatable, strict = translatable.caller.strict): CallTranslation {
    const { call, previous } = translatable;
    const requestAdapter = this.adapters.clientAdapter(call.protocol);
    const warnings = new TranslationWarnings(strict);
    const request = translatable.request();
    const expanded = previous?.expanded() ?? request;
    const content = requestAdapter.parseRequest(expanded, {
      call,
      warnings,
      unseal: (text) => this.reasoning.unseal(text),
    });
    const { storage } = requestAdapter;
    const input = (): string | undefined => storage && writeJson(storage.inputOf(expanded));
    return this.translationOf(translatable, { content, request, warnings, input });
  }

  private translationOf(
    { call, responseAdapter, caller }: Translatable,
    { content, request, warnings, input, compaction }: ParsedRequest,
  ): CallTranslation {
    const requestAdapter = this.adapters.clientAdapter(call.protocol);
    // The response says whether it was stored.
    const shown = caller.storesResponses ? request : { ...request, store: false };
    const seal = this.reasoning.seal.bind(this.reasoning);
    const promptTokens = this.promptTokens(call, requestAdapter, responseAdapter.startsWithPromptTokens === true);
    const context = { call, request: shown, content, promptTokens, seal };
    return new CallTranslation(context, responseAdapter, warnings, input, compaction);
  }

  /** An estimate by size, replaced by the tokenizer's count once available. Never waits. */
  private promptTokens({ head, body }: Call, { textPlaces }: ProtocolAdapter, isCounted: boolean): () => number {
    let tokens = likelyPromptTokens(head.size);
    if (isCounted && head.stream && body.bytes.length <= MAX_COUNTED_BYTES)
      void this.counter.count({ prompt: body.bytes, response: [], places: textPlaces }).then((counted) => {
        tokens = counted === undefined ? tokens : countedPromptTokens(head.size, counted.prompt);
        return tokens;
      });
    return () => Math.max(1, tokens);
  }
}
