import {
  type MemberTable,
  plainMembers,
  ROUTER_MEMBERS,
  scopedIn,
  scopedMember,
  TOOLS,
  wordSet,
} from '../contract/index.js';
import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';

/** All members of a Responses request, from the vendor's SDK, with their effects. */
export const RESPONSES_MEMBERS: MemberTable = {
  source: { package: 'openai', version: '7.57.0' },
  members: {
    ...plainMembers('model input instructions stream stream_options stream_options.include_obfuscation background'),
    ...plainMembers('image image.context_compression include max_output_tokens metadata client_metadata moderation'),
    ...plainMembers('parallel_tool_calls previous_response_id prompt_cache_key prompt_cache_retention'),
    ...plainMembers('prompt_cache_options prompt_cache_options.mode prompt_cache_options.prewarm'),
    ...plainMembers('prompt_cache_options.comparison_response_id reasoning reasoning.effort reasoning.mode'),
    ...plainMembers('reasoning.summary reasoning.generate_summary reasoning.context safety_identifier service_tier'),
    ...plainMembers('access_programs store temperature text tool_choice top_logprobs top_p truncation user'),
    ...ROUTER_MEMBERS,
    tools: TOOLS,
    'prompt_cache_options.ttl': { is: 'cache_lifetime', priced: ['12h'] },
    max_tool_calls: { is: 'max_tool_calls' },
    context_management: { is: 'passes', when: (value) => Array.isArray(value) && value.length > 0 },
    // References to responses and items are resolved by response storage.
    conversation: scopedMember('conversation'),
    ...plainMembers('conversation.id'),
    prompt: scopedMember('prompt'),
    ...plainMembers('prompt.id'),
    ...plainMembers('prompt.variables prompt.version'),
  },
  tools: [
    {
      types: /^(?:function|custom|local_shell|apply_patch|computer|computer_use_preview|tool_search)$/,
      runs: 'client',
    },
    { types: /^(?:namespace|programmatic_tool_calling)$/, runs: 'client' },
    { types: /^mcp$/, runs: 'client', idsIn: ({ tunnel_id: id }) => scopedIn('tunnel', id) },
    {
      types: /^shell$/,
      runs: 'hosted',
      name: 'shell',
      isClients: ({ environment }) => isJsonObject(environment) && environment['type'] === 'local',
      idsIn: ({ environment }) => environmentIds(environment),
    },
    { types: /^web_search/, runs: 'hosted', name: 'web_search' },
    { types: /^file_search$/, runs: 'hosted', name: 'file_search', idsIn: vectorStoreIds },
    {
      types: /^code_interpreter$/,
      runs: 'hosted',
      name: 'code_interpreter',
      idsIn: ({ container }) => environmentIds(container),
    },
    { types: /^image_generation$/, runs: 'hosted', name: 'image_generation' },
  ],
  promptTools: {
    member: 'input[].tools',
    toolsIn: (tools) => (Array.isArray(tools) ? tools.filter(isJsonObject) : []),
  },
  stateMembers: { file_id: 'file', container_id: 'container' },
  betas: { header: 'openai-beta', known: wordSet('responses=v1 assistants=v2 realtime=v1'), refused: new Set() },
};

function vectorStoreIds({ vector_store_ids: ids }: JsonObject): ReturnType<typeof scopedIn> {
  return Array.isArray(ids) ? ids.flatMap((id) => scopedIn('vector_store', id)) : [];
}

/** A container by ID, or a new one with files of the upstream account. */
function environmentIds(container: unknown): ReturnType<typeof scopedIn> {
  if (!isJsonObject(container)) return scopedIn('container', container);
  const files = Array.isArray(container['file_ids']) ? container['file_ids'] : [];
  const skills = Array.isArray(container['skills']) ? container['skills'].filter(isJsonObject) : [];
  return [
    ...scopedIn('container', container['container_id']),
    ...files.flatMap((id) => scopedIn('file', id)),
    ...skills.flatMap(({ skill_id: id }) => scopedIn('skill', id)),
  ];
}
