import {
  objectIn,
  truncated,
  type Annotation,
  type CallContent,
  type CallEvent,
  type UpstreamTarget,
} from '../contract/index.js';
import { AppError, isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import { ResponseParts } from './gemini.response-parts.js';
import { innerError } from './gemini.errors.js';
import { finishIn, stopReason } from './gemini.finish.js';
import { groundingIn } from './gemini.grounding.js';
import { reportIn, speaksOfOutput, usageIn } from './gemini.usage.js';

/** Reads an answer of this dialect, which comes as one `GenerateContentResponse`, or in many that each continue it. */
export class GeminiResponseReader {
  readonly #parts: ResponseParts;
  /** Behind the end only the final usage is waited for. */
  #stage: 'new' | 'open' | 'stopped' | 'over' = 'new';
  #searches = 0;
  /** Addresses that the answer has named: each piece may repeat them. */
  readonly #named = new Set<string>();
  /** What was found for a text that has not begun. */
  readonly #uncited: Annotation[] = [];

  constructor(content: CallContent, target: UpstreamTarget) {
    this.#parts = new ResponseParts(content, target.family);
  }

  /** @throws AppError when it is an error, or says that there is no answer */
  next(response: JsonObject): CallEvent[] {
    if (this.#stage === 'over') return [];
    if (response['error']) throw innerError(response);
    const begun: CallEvent[] = this.#stage === 'new' ? [{ type: 'call-start' }] : [];
    if (this.#stage === 'new') this.#stage = 'open';
    const told = this.#stage === 'open' ? this.#tell(response) : [];
    const reported = reportIn(response);
    const isOver = this.#stage === 'stopped' && speaksOfOutput(reported);
    return [...begun, ...told, ...this.#report(reported), ...(isOver ? this.end() : [])];
  }

  /** The only answer, which is over though it may not say so. @throws AppError when it is none */
  whole(response: JsonObject): CallEvent[] {
    const events = this.next(response);
    if (this.#stage !== 'open') return [...events, ...this.end()];
    if (candidateIn(response) === undefined) {
      throw new AppError('upstream_error', 'The upstream response has the format of another protocol.', {
        failover: true,
      });
    }
    return [...events, ...this.#stop('STOP'), ...this.end()];
  }

  /** The upstream has closed the stream. @throws AppError upstream_truncated when its answer has no end */
  end(): CallEvent[] {
    if (this.#stage === 'over') return [];
    if (this.#stage !== 'stopped') throw truncated();
    this.#stage = 'over';
    return [{ type: 'call-end' }];
  }

  #tell(response: JsonObject): CallEvent[] {
    const candidate = candidateIn(response);
    if (candidate === undefined) {
      const { blockReason } = objectIn(response, 'promptFeedback');
      return typeof blockReason === 'string' ? this.#stop('SAFETY') : [];
    }
    const told = this.#tellParts(candidate);
    const finish = finishIn(candidate['finishReason']);
    return finish === undefined ? told : [...told, ...this.#stop(finish)];
  }

  /** What was found in the web is said of the text in front, which a signature in the same piece may end. */
  #tellParts(candidate: JsonObject): CallEvent[] {
    const { searches, sources } = groundingIn(candidate);
    this.#searches = Math.max(this.#searches, searches);
    for (const source of sources) {
      if (!this.#named.has(source.url)) this.#uncited.push(source);
      this.#named.add(source.url);
    }
    const { parts } = objectIn(candidate, 'content');
    const told = (Array.isArray(parts) ? (parts as unknown[]) : []).flatMap((part) => {
      this.#cite();
      return isJsonObject(part) ? this.#parts.next(part) : [];
    });
    this.#cite();
    return told;
  }

  #cite(): void {
    if (this.#parts.cite(this.#uncited)) this.#uncited.length = 0;
  }

  #stop(finish: string): CallEvent[] {
    const reason = stopReason(finish, this.#parts.hasCalls);
    this.#stage = 'stopped';
    return [...this.#parts.finish(), { type: 'call-stop', reason }];
  }

  /** Every piece says what is used by now. What is silent about the answer reports none, unless nothing was said. */
  #report(reported: JsonObject): CallEvent[] {
    const usage = usageIn(reported);
    if (usage === undefined) return [];
    const isNone = this.#stage === 'stopped' && this.#parts.isEmpty;
    const isProvisional = !isNone && !speaksOfOutput(reported);
    const searched = this.#searches > 0 && { toolUses: { web_search: this.#searches } };
    return [{ type: 'usage-update', usage: { ...usage, ...searched }, ...(isProvisional && { isProvisional }) }];
  }
}

/** One answer is asked for. */
function candidateIn({ candidates }: JsonObject): JsonObject | undefined {
  const [first] = Array.isArray(candidates) ? (candidates as unknown[]) : [];
  return isJsonObject(first) ? first : undefined;
}
