import { Injectable } from '@nestjs/common';
import { AppError, type JsonObject } from '../../platform/shared/index.js';
import {
  type Call,
  countIn,
  headerOf,
  KEEP_ALIVE_COMMENT,
  type ListedModel,
  type ProtocolAdapter,
  type RenderContext,
  renderOpenAiLimits,
  type RequestLine,
  SplicedBody,
  type StreamRenderer,
  type StreamTail,
  type TextPlaces,
  type TokenCountEndpoint,
} from '../contract/index.js';
import { Protocol } from '../decorators/index.js';
import { renderGeminiError } from './errors.js';
import { COUNTED, countHeadReader, geminiHeadReader } from './head.js';
import { Framing, geminiErrorText, GeminiRenderer, renderGeminiResponse } from './renderer.js';
import { parseGeminiRequest, RAW_MEMBERS } from './request.js';
import { modelEdits, OUTPUT_MEMBERS, requestTo } from './verbatim.js';
import { COUNT_PATH, GEMINI, isEventStream, MODELS_PATH, spellings, STREAM_PATH, WHOLE_PATH } from './wire.js';

/** White space between the elements of an array, or before it. */
const NEWLINE = Buffer.from('\n');

/** The client half of Google's `generateContent`. */
@Injectable()
@Protocol()
export class GeminiProtocol implements ProtocolAdapter {
  readonly id = GEMINI;
  readonly callPaths = [WHOLE_PATH, STREAM_PATH] as const;
  readonly modelsPath = MODELS_PATH;
  readonly tokenCounting = GEMINI_TOKEN_COUNT;
  readonly fingerprintHeaders = [];
  readonly rawMembers = RAW_MEMBERS;
  readonly textPlaces = GEMINI_TEXTS;
  readonly headReader = geminiHeadReader;
  readonly parseRequest = parseGeminiRequest;
  readonly renderResponse = renderGeminiResponse;
  readonly renderError = renderGeminiError;
  readonly renderLimits = renderOpenAiLimits;
  readonly renderModels = renderGeminiModels;
  readonly renderModel = renderGeminiModel;

  /** Its clients send a key header of their own, also on shared paths. */
  claims(request: RequestLine): boolean {
    if (/^\/v1beta(?:\/|$)/.test(request.path)) return true;
    return /^\/v1(?:\/|$)/.test(request.path) && headerOf(request, 'x-goog-api-key') !== undefined;
  }

  renderStream(context: RenderContext): StreamRenderer {
    return new GeminiRenderer(context);
  }

  renderStreamError({ id, request }: Call, error: AppError, { first }: StreamTail): Uint8Array {
    const framing = new Framing(request.query);
    const text = geminiErrorText(error, id);
    return Buffer.from(first === undefined ? framing.last(text) : framing.continued().last(text));
  }

  keepAlive(_begun: boolean, { query }: RequestLine): Uint8Array {
    return isEventStream(query) ? KEEP_ALIVE_COMMENT : NEWLINE;
  }

  streamType({ query }: RequestLine): string {
    return isEventStream(query) ? 'text/event-stream; charset=utf-8' : 'application/json; charset=utf-8';
  }
}

const GEMINI_TOKEN_COUNT: TokenCountEndpoint = {
  protocol: GEMINI,
  path: COUNT_PATH,
  headReader: countHeadReader,
  requestFor: (call, model) => ({
    ...requestTo(model, 'countTokens'),
    body: new SplicedBody(call.body, modelEdits(call, model, ['model', ...spellings(`${COUNTED}.model`)])),
  }),
  hasCount: (body) => countIn(body, 'totalTokens') !== undefined,
  render: (tokens) => ({
    totalTokens: tokens,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: tokens }],
  }),
};

const DEFAULT_PAGE_MODELS = 50;
const MAX_PAGE_MODELS = 1000;

/** The page requested by `pageSize` and `pageToken`, which is the position. */
function renderGeminiModels(models: readonly ListedModel[], { query }: RequestLine): JsonObject {
  const parameters = new URLSearchParams(query);
  const size = numberIn(parameters, 'pageSize') || DEFAULT_PAGE_MODELS;
  const start = numberIn(parameters, 'pageToken');
  const end = start + Math.min(size, MAX_PAGE_MODELS);
  return {
    models: models.slice(start, end).map(renderGeminiModel),
    ...(end < models.length && { nextPageToken: String(end) }),
  };
}

/** @throws AppError invalid_request when it is not a whole number */
function numberIn(parameters: URLSearchParams, name: string): number {
  const text = parameters.get(name) ?? '';
  if (/^\d{0,6}$/.test(text)) return Number(text);
  throw new AppError('invalid_request', `${name}: must be a whole number.`, { param: name });
}

function renderGeminiModel({ id, displayName, contextWindow, maxOutputTokens }: ListedModel): JsonObject {
  return {
    name: `models/${id}`,
    baseModelId: id,
    version: id,
    displayName,
    inputTokenLimit: contextWindow,
    outputTokenLimit: maxOutputTokens,
    supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
  };
}

const both = (...names: readonly string[]): readonly string[] => names.flatMap(spellings);

const GEMINI_TEXTS: TextPlaces = {
  prompt: {
    conversation: ['contents', ...both('systemInstruction')],
    definitions: ['tools', ...both(COUNTED)],
    ignored: ['role', 'id', 'data', ...both('mimeType', 'fileUri', 'thoughtSignature')],
    whole: ['args', 'response'],
  },
  response: { within: ['candidates'], texts: OUTPUT_MEMBERS },
};
