import { Injectable } from '@nestjs/common';
import {
  type CallContent,
  classifyUpstream,
  idOf,
  jsonProbe,
  modelListing,
  type StreamDecoder,
  type UpstreamAdapter,
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
  readonly buildRequest = buildMessagesRequest;
  readonly decodeResponse = decodeMessagesResponse;
  readonly classifyError = classifyUpstream;

  decodeStream(content: CallContent, target: UpstreamTarget): StreamDecoder {
    return new MessagesDecoder(content, target);
  }

  probeRequest(model: string): UpstreamRequest {
    const body = { model, max_tokens: 1, messages: [{ role: 'user', content: 'Hi' }] };
    return jsonProbe('/messages', body, { 'anthropic-version': DEFAULT_VERSION });
  }
}
