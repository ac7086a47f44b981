import { Injectable } from '@nestjs/common';
import {
  type BuildContext,
  type CallContent,
  type CallResult,
  classifyUpstream,
  modelListing,
  objectIn,
  smallestRequest,
  type StreamDecoder,
  type UpstreamAdapter,
  type UpstreamHeaders,
  type UpstreamRequest,
  type UpstreamTarget,
} from '../../../src/call/index.js';
import { Upstream } from '../../../src/relay/index.js';
import { type AppError, isJsonObject } from '../../../src/shared/index.js';
import { buildTelegram, PATH } from './telegraph.build.js';
import { decodeTelegram, TelegraphDecoder } from './telegraph.decoder.js';
import { TELEGRAPH } from './telegraph.wire.js';

/** Of a conversation that does not fit into the model. */
const TOO_LONG = /too much for one wire/;

/** Telegraph, as its servers speak it. */
@Injectable()
@Upstream()
export class TelegraphUpstream implements UpstreamAdapter {
  readonly id = TELEGRAPH;
  readonly provider = 'telegraph';
  readonly usualAuth = 'bearer';
  readonly modelListing = modelListing({
    list: 'wires',
    nameOf: ({ wire }) => (typeof wire === 'string' ? wire : undefined),
  });

  buildRequest(context: BuildContext, target: UpstreamTarget): UpstreamRequest {
    return buildTelegram(context, target);
  }

  decodeResponse(body: string, content: CallContent): CallResult {
    return decodeTelegram(body, content);
  }

  decodeStream(content: CallContent): StreamDecoder {
    return new TelegraphDecoder(content);
  }

  smallestRequest(model: string): UpstreamRequest {
    return smallestRequest(PATH, { model, lines: [{ from: 'user', text: 'Hi' }], limit: 1 });
  }

  classifyError(status: number, headers: UpstreamHeaders, body: unknown): AppError {
    const message = isJsonObject(body) ? objectIn(body, 'error')['message'] : undefined;
    if (typeof message !== 'string' || !TOO_LONG.test(message)) return classifyUpstream(status, headers, body);
    return classifyUpstream(status, headers, { error: { message, code: 'context_length_exceeded' } });
  }
}
