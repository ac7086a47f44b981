import {
  leaveTierOut,
  jsonHeaders,
  SplicedBody,
  ToolNames,
  writeJson,
  type BuildContext,
  type TreeObject,
  type UpstreamRequest,
  type UpstreamTarget,
} from '../contract/index.js';
import { buildContents } from './gemini.build-contents.js';
import { buildConfig } from './gemini.build-config.js';
import { FUNCTION_NAMES, type RequestBuild } from './gemini.build-context.js';
import { buildFormat } from './gemini.build-format.js';
import { buildTools } from './gemini.build-tools.js';
import { geminiFlags } from './gemini.flags.js';

/** The request for a call of whichever dialect. @throws AppError as `UpstreamAdapter.buildRequest` */
export function buildGeminiRequest(context: BuildContext, target: UpstreamTarget): UpstreamRequest {
  const { content } = context;
  const flags = geminiFlags(target);
  const body = buildBody({ ...context, target, flags, names: new ToolNames(content.tools, FUNCTION_NAMES) });
  return {
    path: pathOf(target.model, target.stream),
    query: target.stream ? 'alt=sse' : '',
    headers: jsonHeaders(target.stream),
    body: new SplicedBody({ bytes: Buffer.from(writeJson(body)) }),
    stopsSent: Math.min(content.stop.length, flags.stopMax),
  };
}

/**
 * Where a model is asked: `/models/gemini-x:generateContent`. A name with a slash says itself where it stands:
 * `tunedModels/x`, `publishers/google/models/x`.
 */
export function pathOf(model: string, stream: boolean): string {
  const name = model.includes('/') ? model : `models/${model}`;
  const place = name.split('/').map(encodeURIComponent).join('/');
  return `/${place}:${stream ? 'streamGenerateContent' : 'generateContent'}`;
}

function buildBody(build: RequestBuild): TreeObject {
  const format = buildFormat(build);
  const config = buildConfig(build, format.config);
  leaveTierOut(build.content.serviceTier, build.losses);
  return {
    systemInstruction: buildSystem(build, format.words),
    contents: buildContents(build),
    ...buildTools(build),
    ...(Object.values(config).some((member) => member !== undefined) && { generationConfig: config }),
  };
}

function buildSystem({ content: { lead } }: RequestBuild, words: string | undefined): TreeObject | undefined {
  const texts = [...lead.map(({ text }) => text), ...(words === undefined ? [] : [words])];
  return texts.length === 0 ? undefined : { parts: texts.map((text) => ({ text })) };
}
