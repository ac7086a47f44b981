import { Injectable } from '@nestjs/common';
import { countedPromptTokens, likelyPromptTokens } from '../billing/index.js';
import {
  type Call,
  isTreeObject,
  Losses,
  type ProtocolAdapter,
  parseJsonTree,
  type TreeObject,
} from '../call/index.js';
import type { Caller } from '../keys/index.js';
import { AppError } from '../shared/index.js';
import { TokenCounter } from '../tokens/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { ReasoningSeal } from './reasoning-seal.js';
import { Translation } from './translation.js';

/** Larger prompts are not counted for the start of a stream: the count would come too late, and delay those of bills. */
const MAX_COUNTED_BYTES = 256 * 1024;
/** A prompt may be larger than its model can read. */
const NO_WINDOW = Infinity;

interface Translated {
  readonly call: Call;
  /** Who words the answer; the request is in the call's own dialect. */
  readonly protocol: ProtocolAdapter;
  readonly caller: Caller;
  /** As the client sent it. */
  readonly request: TreeObject;
  /** With everything in it that it names. */
  readonly expanded: TreeObject;
}

/** The two uses of a translation of one call. */
export interface Translator {
  /** For upstreams of other dialects. @throws AppError invalid_request naming what cannot be said there */
  ofRequest(): Translation;
  /**
   * For an answer that is written anew though its request went up as it was: of that nothing was lost. Undefined when it
   * asks for what only its own dialect knows.
   */
  ofAnswer(): Translation | undefined;
}

/** Opens translations of calls. */
@Injectable()
export class Translations {
  constructor(
    private readonly adapters: AdapterRegistry,
    private readonly reasoning: ReasoningSeal,
    private readonly counter: TokenCounter,
  ) {}

  /** A request as a tree. @throws AppError invalid_request when it is no JSON after all */
  read({ body, protocol }: Call): TreeObject {
    try {
      const tree = parseJsonTree(body.bytes.toString('utf8'), this.adapters.protocol(protocol).rawMembers);
      if (isTreeObject(tree)) return tree;
    } catch {
      // The scanner looks at what it needs; the rest of the grammar is looked at here.
    }
    throw new AppError('invalid_request', 'The body is not valid JSON, or is nested too deeply.');
  }

  /** @param asked what is to be translated, read when it is needed; for requests once, by whichever channel is first */
  translator(asked: () => Translated): Translator {
    let translation: Translation | undefined;
    return {
      ofRequest: () => (translation ??= this.open(asked())),
      ofAnswer: () => {
        try {
          return this.open(asked(), false);
        } catch (error) {
          if (error instanceof AppError) return undefined;
          throw error;
        }
      },
    };
  }

  private open({ call, protocol, caller, request, expanded }: Translated, strict = caller.strict): Translation {
    const asked = this.adapters.protocol(call.protocol);
    const losses = new Losses(strict);
    const content = asked.parseRequest(expanded, { call, losses, unseal: (text) => this.reasoning.unseal(text) });
    // The answer says what became of it.
    const shown = caller.storesAnswers ? request : { ...request, store: false };
    const seal = this.reasoning.seal.bind(this.reasoning);
    const promptTokens = this.promptTokens(call, asked, protocol.startsWithPromptTokens === true);
    const context = { call, request: shown, content, promptTokens, seal };
    return new Translation(context, protocol, losses, expanded);
  }

  /** An estimate by size, until a count by the tokenizer has come. Waits for nothing. */
  private promptTokens({ head, body }: Call, { textPlaces }: ProtocolAdapter, isCounted: boolean): () => number {
    let tokens = likelyPromptTokens(head.size, NO_WINDOW);
    if (isCounted && head.stream && body.bytes.length <= MAX_COUNTED_BYTES)
      void this.counter.count({ prompt: body.bytes, answer: [], places: textPlaces }).then((counted) => {
        tokens = counted === undefined ? tokens : countedPromptTokens(head.size, NO_WINDOW, counted.prompt);
        return tokens;
      });
    return () => Math.max(1, tokens);
  }
}
