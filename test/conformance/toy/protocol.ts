import { Injectable } from '@nestjs/common';
import type { LimitStatuses } from '../../../src/platform/limits/index.js';
import type { AppError, JsonObject } from '../../../src/platform/shared/index.js';
import {
  type Call,
  type CallContent,
  type CallResult,
  type HeadReader,
  KEEP_ALIVE_COMMENT,
  type ListedModel,
  type ProtocolAdapter,
  type RenderContext,
  type RenderedError,
  renderListedModel,
  renderModelPage,
  renderOpenAiLimits,
  type RequestLine,
  type StreamRenderer,
  type TextPlaces,
  type TreeObject,
} from '../../../src/protocols/contract/index.js';
import { Protocol } from '../../../src/protocols/decorators/index.js';
import { renderTelegraphError } from './errors.js';
import { telegraphHeadReader } from './head.js';
import { parseTelegram, RAW_MEMBERS } from './request.js';
import { failureText, renderTelegram, TelegraphRenderer } from './response.js';
import { TELEGRAPH } from './wire.js';

/** The endpoint for calls. */
export const TELEGRAPH_PATH = '/v1/telegrams';

/**
 * The members that contain text, for counting tokens: of calls without reported usage, and for clients that ask. It is
 * data because counting runs in a separate thread. In `prompt`, `conversation` and `definitions` (tools, output
 * formats) are top-level members. All strings in messages count, except in `ignored` members: IDs, types, URLs. In
 * `whole` members, such as arguments that are objects, names count too. `response` is for whole responses that pass
 * through; others are counted as they arrive. Its `within` are top-level members, and `texts` are the members in them
 * that the model wrote.
 */
const TEXTS: TextPlaces = {
  prompt: { conversation: ['lines'], definitions: ['tools'], ignored: ['from', 'call', 'result'], whole: [] },
  response: { within: ['lines'], texts: ['text', 'tool', 'arguments'] },
};

/** The client half. Pure, like the upstream half. */
@Injectable()
@Protocol()
export class TelegraphProtocol implements ProtocolAdapter {
  readonly id = TELEGRAPH;
  readonly callPaths = [TELEGRAPH_PATH] as const;
  readonly fingerprintHeaders = [];
  readonly rawMembers = RAW_MEMBERS;
  readonly textPlaces = TEXTS;

  /** Whether errors for this request have Telegraph's format, before its body is read. */
  claims(request: RequestLine): boolean {
    return request.path === TELEGRAPH_PATH;
  }

  headReader(request: RequestLine): HeadReader {
    return telegraphHeadReader(request);
  }

  parseRequest(request: TreeObject): CallContent {
    return parseTelegram(request);
  }

  renderResponse(result: CallResult, context: RenderContext): string {
    return renderTelegram(result, context);
  }

  renderStream(context: RenderContext): StreamRenderer {
    return new TelegraphRenderer(context);
  }

  renderError(error: AppError, requestId: string): RenderedError {
    return renderTelegraphError(error, requestId);
  }

  /** Headers with the remaining rate limits; OpenAI's unless the protocol has its own. */
  renderLimits(statuses: LimitStatuses): Record<string, string> {
    return renderOpenAiLimits(statuses);
  }

  renderStreamError(call: Call, error: AppError): Uint8Array {
    return Buffer.from(failureText(error, call.id));
  }

  /**
   * Sent on idle streams: a comment, unless the protocol has an event for it. The argument `begun`, not needed here, is
   * false before the first event: an event for it must be allowed there.
   */
  keepAlive(): Uint8Array {
    return KEEP_ALIVE_COMMENT;
  }

  renderModels(models: readonly ListedModel[], request: RequestLine): JsonObject {
    return renderModelPage(models, request);
  }

  renderModel(model: ListedModel): JsonObject {
    return renderListedModel(model);
  }
}
