import {
  leaveTierOut,
  jsonHeaders,
  SplicedBody,
  ToolNames,
  writeJson,
  type BuildContext,
  type CallContent,
  type TreeObject,
  type UpstreamRequest,
  type UpstreamTarget,
} from '../contract/index.js';
import type { RequestBuild } from './messages.build-context.js';
import { buildFormat, type FormatRequest } from './messages.build-format.js';
import { maxTokensOf } from './messages.build-limits.js';
import { buildSampling } from './messages.build-sampling.js';
import { planThinking } from './messages.build-thinking.js';
import { buildToolChoice, buildTools, TOOL_NAMES } from './messages.build-tools.js';
import { buildMessages } from './messages.build-turns.js';
import { CacheMarks, countMarks, markOf } from './messages.cache-marks.js';
import { messagesFlags } from './messages.flags.js';
import { FORCED_RESPOND } from './messages.respond-tool.js';

/** The request of a call that came in another dialect. @throws AppError as `UpstreamAdapter.buildRequest` */
export function buildMessagesRequest(context: BuildContext, target: UpstreamTarget): UpstreamRequest {
  const { content } = context;
  const flags = messagesFlags(target);
  const names = new ToolNames(content.tools, TOOL_NAMES);
  const body = buildBody({ ...context, target, flags, names, marks: new CacheMarks(content) });
  return {
    path: '/messages',
    query: '',
    headers: { ...jsonHeaders(target.stream), 'anthropic-version': flags.version },
    body: new SplicedBody({ bytes: Buffer.from(writeJson(body)) }),
    stopsSent: sentStops(content.stop).length,
  };
}

function buildBody(build: RequestBuild): TreeObject {
  const { content, target } = build;
  const asked = buildFormat(build);
  const maxTokens = maxTokensOf(build);
  const plan = planThinking(build, maxTokens, isToolForced(content));
  const isConfigured = plan.effort !== undefined || asked.format !== undefined;
  const stops = sentStops(content.stop);
  return {
    model: target.model,
    max_tokens: maxTokens,
    ...buildPrompt(build, asked, plan.isOn),
    thinking: plan.thinking,
    ...(isConfigured && { output_config: { effort: plan.effort, format: asked.format } }),
    ...buildSampling(build, plan.isOn),
    ...(stops.length > 0 && { stop_sequences: stops }),
    ...(content.endUser !== undefined && { metadata: { user_id: content.endUser } }),
    service_tier: buildTier(build),
    stream: target.stream,
  };
}

/** In the order in which models read it, and in which marks of caches are counted. */
function buildPrompt(build: RequestBuild, { tool, words }: FormatRequest, isThinking: boolean): TreeObject {
  const { content, flags } = build;
  const tools = tool === undefined ? buildTools(build) : [tool];
  const system = buildSystem(build, words);
  return {
    ...(tools.length > 0 && { tools }),
    ...(tools.length > 0 && { tool_choice: tool === undefined ? buildToolChoice(build, isThinking) : FORCED_RESPOND }),
    ...(system.length > 0 && { system }),
    messages: buildMessages(build),
    // Clients of other dialects do not know that a prompt has to be marked.
    ...(flags.caches && countMarks(content) === 0 && { cache_control: markOf() }),
  };
}

const isToolForced = ({ toolChoice: { mode }, tools }: CallContent): boolean =>
  tools.length > 0 && (mode === 'required' || mode === 'one');

function buildSystem({ content, marks }: RequestBuild, words: string | undefined): readonly TreeObject[] {
  const lead = content.lead.map((part) => ({ type: 'text', text: part.text, ...marks.on(part) }));
  const told = lead.filter(({ text }) => text.trim() !== '');
  return words === undefined ? told : [...told, { type: 'text', text: words }];
}

/** Those of white space alone are refused: from the first of them on they are looked for in the answer. */
function sentStops(stop: readonly string[]): readonly string[] {
  const refused = stop.findIndex((text) => text.trim() === '');
  return refused < 0 ? stop : stop.slice(0, refused);
}

/** Tiers of other vendors are not for sale here. */
function buildTier({ content: { serviceTier }, losses }: RequestBuild): string | undefined {
  if (serviceTier === 'default') return 'standard_only';
  leaveTierOut(serviceTier, losses);
  return undefined;
}
