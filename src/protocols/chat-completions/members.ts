import { type MemberTable, plainMembers, ROUTER_MEMBERS, TOOLS, wordSet } from '../contract/index.js';

/** All members of a Chat Completions request, from the vendor's SDK, with their effects. */
export const CHAT_MEMBERS: MemberTable = {
  source: { package: 'openai', version: '7.57.0' },
  members: {
    ...plainMembers('model messages stream stream_options stream_options.include_usage'),
    ...plainMembers('stream_options.include_obfuscation audio frequency_penalty function_call functions logit_bias'),
    ...plainMembers('logprobs max_completion_tokens max_tokens metadata modalities moderation n'),
    ...plainMembers('parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_retention'),
    ...plainMembers('prompt_cache_options prompt_cache_options.mode reasoning_effort response_format'),
    ...plainMembers('safety_identifier seed service_tier stop store temperature tool_choice top_logprobs top_p user'),
    ...plainMembers('verbosity background'),
    // Extensions of other servers, which bill by tokens only.
    ...plainMembers('top_k min_p top_a typical_p repetition_penalty length_penalty min_tokens ignore_eos best_of'),
    ...plainMembers('chat_template_kwargs chat_template guided_json guided_regex guided_choice guided_grammar'),
    ...plainMembers('structured_outputs json_schema grammar reasoning include_reasoning reasoning_format thinking'),
    ...plainMembers('enable_thinking thinking_budget extra_body keep_alive options think cache_prompt id_slot usage'),
    ...plainMembers('safe_prompt random_seed prompt_mode document_image_limit stop_token_ids skip_special_tokens'),
    ...ROUTER_MEMBERS,
    tools: TOOLS,
    'prompt_cache_options.ttl': { is: 'cache_lifetime', priced: ['12h'] },
    web_search_options: { is: 'hosted_tool', tool: 'web_search' },
  },
  tools: [{ types: /^(?:function|custom)$/, runs: 'client' }],
  stateMembers: { file_id: 'file' },
  betas: { header: 'openai-beta', known: wordSet('responses=v1 assistants=v2 realtime=v1'), refused: new Set() },
};
