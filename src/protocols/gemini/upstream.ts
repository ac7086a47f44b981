import { Injectable } from '@nestjs/common';
import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import {
  type CallContent,
  type CallEvent,
  type CallResult,
  classifyGoogleError,
  dataKind,
  invalidResponse,
  jsonProbe,
  modelListing,
  parseJsonTree,
  resultOf,
  type SseEvent,
  type StreamDecoder,
  unreadableEvent,
  type UpstreamAdapter,
  type UpstreamRequest,
  type UpstreamTarget,
} from '../contract/index.js';
import { Upstream } from '../decorators/index.js';
import { buildGeminiRequest, pathOf } from './build.js';
import { GeminiResponseReader } from './response-reader.js';
import { GeminiVerbatim } from './verbatim.js';
import { GEMINI } from './wire.js';

/** The upstream half of Google's `generateContent`, as in the Gemini API and Vertex AI. */
@Injectable()
@Upstream()
export class GeminiUpstream implements UpstreamAdapter {
  readonly id = GEMINI;
  readonly provider = 'gcp.gemini';
  readonly defaultAuth = 'x-goog-api-key';
  readonly verbatim = new GeminiVerbatim();
  readonly modelListing = modelListing({ query: 'pageSize=1000', list: 'models', nameOf: nameOfListed });
  readonly buildRequest = buildGeminiRequest;
  readonly decodeResponse = decodeGeminiResponse;
  readonly classifyError = classifyGoogleError;

  decodeStream(content: CallContent, target: UpstreamTarget): StreamDecoder {
    return new GeminiDecoder(content, target);
  }

  probeRequest(model: string): UpstreamRequest {
    const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];
    return jsonProbe(pathOf(model, 'generateContent'), { contents, generationConfig: { maxOutputTokens: 1 } });
  }
}

/** `models/gemini-x` as in calls; undefined for other kinds, such as embeddings. */
function nameOfListed({ name, supportedGenerationMethods: methods }: JsonObject): string | undefined {
  const generates = !Array.isArray(methods) || methods.includes('generateContent');
  return typeof name === 'string' && generates ? name.replace(/^models\//, '') : undefined;
}

/** Decodes a stream whose events are whole responses and which ends by closing. */
class GeminiDecoder implements StreamDecoder {
  readonly #response: GeminiResponseReader;

  constructor(content: CallContent, target: UpstreamTarget) {
    this.#response = new GeminiResponseReader(content, target);
  }

  next(event: SseEvent): readonly CallEvent[] {
    const kind = dataKind(event);
    // Some servers send another protocol's marker.
    if (kind === 'none' || kind === 'done') return [];
    const response = parseResponse(event.data);
    if (response === undefined) throw unreadableEvent();
    return this.#response.next(response);
  }

  end(): readonly CallEvent[] {
    return this.#response.end();
  }
}

/** @throws AppError as `UpstreamAdapter.decodeResponse` */
function decodeGeminiResponse(body: string, content: CallContent, target: UpstreamTarget): CallResult {
  const response = parseResponse(body);
  if (response === undefined) throw invalidResponse('a response that is not a JSON object');
  return resultOf(new GeminiResponseReader(content, target).whole(response));
}

const ARGUMENTS: ReadonlySet<string> = new Set(['args']);

/** The response may be in a list. Undefined if malformed. */
function parseResponse(text: string): JsonObject | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    // Raw text is not inspected; its grammar was checked.
    const response: unknown = text.includes('"functionCall"') ? parseJsonTree(text, ARGUMENTS) : parsed;
    const first: unknown = Array.isArray(response) ? response[0] : response;
    return isJsonObject(first) ? first : undefined;
  } catch {
    return undefined;
  }
}
