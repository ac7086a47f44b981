import { Injectable } from '@nestjs/common';
import {
  type Call,
  type CallContent,
  type CallResult,
  type HeadReader,
  KEEP_ALIVE_COMMENT,
  type LimitStandings,
  type ListedModel,
  pageOf,
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
} from '../../../src/call/index.js';
import { Protocol } from '../../../src/relay/index.js';
import type { AppError, JsonObject } from '../../../src/shared/index.js';
import { failureText, renderTelegram, TelegraphRenderer } from './telegraph.answer.js';
import { renderTelegraphError } from './telegraph.errors.js';
import { telegraphHeadReader } from './telegraph.head.js';
import { parseTelegram, RAW_MEMBERS } from './telegraph.request.js';
import { TELEGRAPH } from './telegraph.wire.js';

/** Where calls are posted. */
export const TELEGRAPH_PATH = '/v1/telegrams';

const TEXTS: TextPlaces = {
  prompt: { conversation: ['lines'], definitions: ['tools'], silent: ['from', 'call', 'result'], whole: [] },
  answer: { within: ['lines'], texts: ['text', 'tool', 'arguments'] },
};

/** Telegraph, as clients speak it. */
@Injectable()
@Protocol()
export class TelegraphProtocol implements ProtocolAdapter {
  readonly id = TELEGRAPH;
  readonly callPaths = [TELEGRAPH_PATH] as const;
  readonly forwardedHeaders = [];
  readonly rawMembers = RAW_MEMBERS;
  readonly textPlaces = TEXTS;

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

  renderLimits(standings: LimitStandings): Record<string, string> {
    return renderOpenAiLimits(standings);
  }

  renderStreamError(call: Call, error: AppError): Uint8Array {
    return Buffer.from(failureText(error, call.id));
  }

  keepAlive(): Uint8Array {
    return KEEP_ALIVE_COMMENT;
  }

  renderModels(models: readonly ListedModel[], request: RequestLine): JsonObject {
    return renderModelPage(pageOf(models, request, Infinity));
  }

  renderModel(model: ListedModel): JsonObject {
    return renderListedModel(model);
  }
}
