import {
  jsonHeaders,
  SplicedBody,
  ToolNames,
  writeJson,
  type BuildContext,
  type TreeObject,
  type UpstreamRequest,
  type UpstreamTarget,
} from '../../call/index.js';
import { buildFormat } from './messages.build-format.js';
import { outputLimits } from './messages.build-limits.js';
import { buildSampling } from './messages.build-sampling.js';
import { planThinking } from './messages.build-thinking.js';
import { buildToolChoice, buildTools, TOOL_NAMES } from './messages.build-tools.js';
import { buildMessages } from './messages.build-turns.js';
import { CacheMarks, countMarks, markOf } from './messages.cache-marks.js';
import { messagesFlags, type MessagesFlags } from './messages.flags.js';

/** The request of a call that came in another dialect. @throws AppError as `UpstreamAdapter.buildRequest` */
export function buildMessagesRequest(context: BuildContext, target: UpstreamTarget): UpstreamRequest {
  const flags = messagesFlags(target);
  const stops = sentStops(context);
  const body = {
    ...buildBody(context, target, flags),
    ...(stops.length > 0 && { stop_sequences: stops }),
    stream: target.stream,
  };
  return {
    path: '/messages',
    query: '',
    headers: { ...jsonHeaders(target.stream), 'anthropic-version': flags.version },
    body: new SplicedBody({ bytes: Buffer.from(writeJson(body)) }),
    stopsSent: stops.length,
  };
}

/** Members in the order of the prompt, in which marks of caches are counted. */
function buildBody(context: BuildContext, target: UpstreamTarget, flags: MessagesFlags): TreeObject {
  const { content, losses } = context;
  const names = new ToolNames(content.tools, TOOL_NAMES);
  const marks = new CacheMarks(content);
  const asked = buildFormat(context, flags);
  const tools = asked.tool === undefined ? buildTools(context, flags, names, marks) : [asked.tool];
  const isForced = tools.length > 0 && (content.toolChoice.mode === 'required' || content.toolChoice.mode === 'one');
  const plan = planThinking(context, target, flags, outputLimits(content, target, flags, losses), isForced);
  const choice =
    asked.tool === undefined ? buildToolChoice(context, names, plan.isOn) : { type: 'tool', name: asked.tool['name'] };
  const system = buildSystem(context, marks, asked.words);
  const output = { effort: plan.effort, format: asked.format };
  const isConfigured = plan.effort !== undefined || asked.format !== undefined;
  return {
    model: target.model,
    max_tokens: plan.maxTokens,
    ...(tools.length > 0 && { tools, tool_choice: choice }),
    ...(system.length > 0 && { system }),
    messages: buildMessages(context, target, flags, names, marks),
    thinking: plan.thinking,
    ...(isConfigured && { output_config: output }),
    ...buildSampling(context, flags, plan.isOn),
    ...(content.endUser !== undefined && { metadata: { user_id: content.endUser } }),
    service_tier: buildTier(context),
    // Clients of other dialects do not know that a prompt has to be marked.
    ...(flags.caches && countMarks(content) === 0 && { cache_control: markOf() }),
  };
}

function buildSystem({ content }: BuildContext, marks: CacheMarks, words: string | undefined): readonly TreeObject[] {
  const lead = content.lead.map((part) => ({ type: 'text', text: part.text, ...marks.on(part) }));
  const told = lead.filter(({ text }) => text.trim() !== '');
  return words === undefined ? told : [...told, { type: 'text', text: words }];
}

/** Those of white space alone are refused: from the first of them on they are looked for in the answer. */
function sentStops({ content: { stop } }: BuildContext): readonly string[] {
  const refused = stop.findIndex((text) => text.trim() === '');
  return refused < 0 ? stop : stop.slice(0, refused);
}

/** Tiers of other vendors are not for sale here. */
function buildTier({ content: { serviceTier }, losses }: BuildContext): string | undefined {
  if (serviceTier === 'default') return 'standard_only';
  if (serviceTier !== undefined && serviceTier !== 'auto') losses.warn('unsupported_service_tier', 'service_tier');
  return undefined;
}
