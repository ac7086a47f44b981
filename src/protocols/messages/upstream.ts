import { Injectable } from '@nestjs/common';
import type { AppError } from '../../platform/shared/index.js';
import {
  type BuildContext,
  type CallContent,
  type CallResult,
  classifyUpstream,
  idOf,
  modelListing,
  jsonProbe,
  type StreamDecoder,
  type UpstreamAdapter,
  type UpstreamHeaders,
  type UpstreamRequest,
  type UpstreamTarget,
} from '../contract/index.js';
import { Upstream } from '../decorators/index.js';
import { buildMessagesRequest } from './build.js';
import { decodeMessagesResponse, MessagesDecoder } from './decoder.js';
import { DEFAULT_VERSION } from './flags.js';
import { MESSAGES } from './head.js';
import { MessagesVerbatim } from './verbatim.js';

/** The upstream half of Anthropic's Messages. */
@Injectable()
@Upstream()
export class MessagesUpstream implements UpstreamAdapter {
  readonly id = MESSAGES;
  readonly provider = 'anthropic';
  readonly defaultAuth = 'x-api-key';
  readonly verbatim = new MessagesVerbatim();
  readonly modelListing = modelListing({
    query: 'limit=1000',
    headers: { 'anthropic-version': DEFAULT_VERSION },
    list: 'data',
    nameOf: idOf,
  });

  buildRequest(context: BuildContext, target: UpstreamTarget): UpstreamRequest {
    return buildMessagesRequest(context, target);
  }

  decodeResponse(body: string, content: CallContent, target: UpstreamTarget): CallResult {
    return decodeMessagesResponse(body, content, target);
  }

  decodeStream(content: CallContent, target: UpstreamTarget): StreamDecoder {
    return new MessagesDecoder(content, target);
  }

  probeRequest(model: string): UpstreamRequest {
    const body = { model, max_tokens: 1, messages: [{ role: 'user', content: 'Hi' }] };
    return jsonProbe('/messages', body, { 'anthropic-version': DEFAULT_VERSION });
  }

  classifyError(status: number, headers: UpstreamHeaders, body: unknown): AppError {
    return classifyUpstream(status, headers, body);
  }
}
