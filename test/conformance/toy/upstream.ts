import { Injectable } from '@nestjs/common';
import { type AppError, isJsonObject } from '../../../src/platform/shared/index.js';
import {
  type BuildContext,
  type CallContent,
  type CallResult,
  classifyUpstream,
  jsonProbe,
  modelListing,
  objectIn,
  type StreamDecoder,
  type UpstreamAdapter,
  type UpstreamHeaders,
  type UpstreamRequest,
  type UpstreamTarget,
} from '../../../src/protocols/contract/index.js';
import { Upstream } from '../../../src/protocols/decorators/index.js';
import { buildTelegram, PATH } from './build.js';
import { decodeTelegram, TelegraphDecoder } from './decoder.js';
import { TELEGRAPH } from './wire.js';

/** In the error message for a prompt that exceeds the context window. */
const TOO_LONG = /too much for one wire/;

/** The upstream half. Pure: no I/O, clock, randomness or promises, so that all of it is tested on plain values. */
@Injectable()
@Upstream()
export class TelegraphUpstream implements UpstreamAdapter {
  readonly id = TELEGRAPH;
  /** The vendor, as OpenTelemetry names providers. */
  readonly provider = 'telegraph';
  /** `bearer`, or the lowercase name of the header for the credential. The relay adds the credential itself. */
  readonly defaultAuth = 'bearer';
  /** Lists the upstream's models for the administrator. `nameOf` returns undefined for models that cannot be called. */
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

  /** For `catalog apply --check`: one user message, not streamed, output limit 1. */
  probeRequest(model: string): UpstreamRequest {
    return jsonProbe(PATH, { model, lines: [{ from: 'user', text: 'Hi' }], limit: 1 });
  }

  /**
   * `classifyUpstream` reads the common error formats: who is at fault, whether to try another channel, `retry-after`.
   * Convert other formats to `{ error: { message, type, code, param } }`, and pass the status that fits.
   *
   * Clients shorten the conversation only for `context_length_exceeded`, so this vendor's wording is mapped to it.
   * The codes `model_not_found`, `insufficient_quota` and `invalid_api_key` help where the status is ambiguous.
   */
  classifyError(status: number, headers: UpstreamHeaders, body: unknown): AppError {
    const message = isJsonObject(body) ? objectIn(body, 'error')['message'] : undefined;
    if (typeof message !== 'string' || !TOO_LONG.test(message)) return classifyUpstream(status, headers, body);
    return classifyUpstream(status, headers, { error: { message, code: 'context_length_exceeded' } });
  }
}
