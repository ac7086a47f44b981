import {
  type MemberTable,
  plainMembers,
  refusedMember,
  ROUTER_MEMBERS,
  scopedIn,
  scopedMember,
  stringOf,
  TOOLS,
  wordSet,
} from '../contract/index.js';
import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';

const OTHER_PAYER = 'it selects the billed organization';

/** All members of a Messages request, from the vendor's SDK, with their effects. */
export const MESSAGES_MEMBERS: MemberTable = {
  source: { package: '@anthropic-ai/sdk', version: '1.12.0' },
  members: {
    ...plainMembers('model messages max_tokens stream system stop_sequences temperature top_k top_p tool_choice'),
    ...plainMembers('metadata metadata.user_id background betas output_format diagnostics cache_control'),
    ...plainMembers('diagnostics.previous_message_id cache_control.type cache_control.ttl service_tier mcp_servers'),
    ...plainMembers('thinking thinking.type thinking.budget_tokens thinking.display thinking.block_binding'),
    ...plainMembers('output_config output_config.effort output_config.format output_config.task_budget'),
    ...ROUTER_MEMBERS,
    tools: TOOLS,
    speed: { is: 'speed', standard: ['standard'] },
    inference_geo: { is: 'geo' },
    fallbacks: { is: 'alternatives' },
    context_management: { is: 'passes', when: compacts },
    compaction: { is: 'passes', when: (value) => value !== null },
    container: { is: 'scoped', idsIn: containerIds },
    ...plainMembers('container.id container.skills thread.type thread.previous_message_id'),
    thread: {
      is: 'scoped',
      // Not in the SDK, but an upstream may read it.
      idsIn: (value) =>
        isJsonObject(value)
          ? [...scopedIn('thread', value['previous_message_id']), ...scopedIn('thread', value['id'])]
          : [],
    },
    conversation: scopedMember('conversation'),
    billing_policy: refusedMember(OTHER_PAYER),
    user_profile_id: refusedMember(OTHER_PAYER),
    workspace_id: refusedMember('it selects a workspace of the upstream account'),
    fallback_credit_token: refusedMember('it spends a credit of the upstream account'),
  },
  tools: [
    { types: /^(?:custom|bash|text_editor|computer|memory|browser|mcp|tool_search)(?:_|$)/, runs: 'client' },
    { types: /^advisor_/, runs: 'advisor' },
    { types: /^web_search_/, runs: 'hosted', name: 'web_search' },
    { types: /^web_fetch_/, runs: 'hosted', name: 'web_fetch' },
    { types: /^code_execution_/, runs: 'hosted', name: 'code_execution' },
  ],
  promptTools: { member: 'messages[].content', mayBeIn: mayDefineTools, toolsIn: definedTools },
  stateMembers: { file_id: 'file' },
  hasToolData: true,
  betas: {
    header: 'anthropic-beta',
    known: wordSet(`
      computer-use-2024-10-22 computer-use-2025-01-24 output-128k-2025-02-19 mcp-client-2025-04-04
      mcp-client-2025-11-20 dev-full-thinking-2025-05-14 interleaved-thinking-2025-05-14
      code-execution-2025-05-22 context-1m-2025-08-07 context-management-2025-06-27
      model-context-window-exceeded-2025-08-26 fast-mode-2026-02-01 output-300k-2026-03-24
      advisor-tool-2026-03-01 managed-agents-2026-04-01 dreaming-2026-04-21
      thinking-token-count-2026-05-13 server-side-fallback-2026-06-01 server-side-fallback-2026-07-01
      agent-memory-2026-07-22 mid-conversation-tool-changes-2026-07-01 compact-2026-01-12
      computer-use-2025-11-24 mcp-tunnels-2026-06-22 structured-outputs-2025-11-13 task-budgets-2026-03-13
      thinking-display-updates-2026-08-18 mid-conversation-output-config-2026-07-01
      thinking-binding-controls-2026-08-01 mid-conversation-system-clear-at-2026-08-21 compact-2026-09-04
      inline-tools-2026-09-15 mcp-client-2026-09-15 ce-plugins-2026-09-01 spend-limit-reads-2026-09-26
      telemetry-destinations-2026-08-11 webhooks-2026-10-07 admin-user-sign-out-2026-10-08
      message-threads-2026-08-12 analytics-usage-cost-2026-08-24 experimental-claude-tag-2026-10-21
      message-batches-2024-09-24 prompt-caching-2024-07-31 pdfs-2024-09-25 token-counting-2024-11-01
      token-efficient-tools-2025-02-19 files-api-2025-04-14 extended-cache-ttl-2025-04-11
      skills-2025-10-02 cache-diagnosis-2026-04-07 ce-user-management-2026-07-13
      ce-claude-code-managed-settings-2026-10-06
      claude-code-20250219 effort-2025-11-24 fine-grained-tool-streaming-2025-05-14 oauth-2025-04-20
      prompt-caching-scope-2026-01-05 redact-thinking-2026-02-12 web-search-2025-03-05 afk-mode-2026-01-31
      advanced-tool-use-2025-11-20 tool-search-tool-2025-10-19 tool-examples-2025-10-29
      mid-conversation-system-2026-04-07 structured-outputs-2025-12-15 code-execution-2025-08-25
      per-turn-control-2026-07-01 context-hint-2026-04-09 summarize-connector-text-2026-03-13 mcp-servers-2025-12-04`),
    refused: wordSet(`
      user-profiles-2026-03-24 user-profiles-2026-08-18 user-profiles-2026-09-04
      fallback-credit-2026-06-01 fallback-credit-2026-07-01 user-profiles-billing-2026-10-01`),
  },
};

/** As a whole string, not within a text. */
const DEFINITION = '"tool_definition"';
/** Escaped letters may hide the type. */
const ESCAPED_LETTER = /\\u00[4-7]/;

function mayDefineTools(content: string): boolean {
  return content.includes(DEFINITION) || (content.includes('\\u00') && ESCAPED_LETTER.test(content));
}

/** Of tool changes in messages and in compactions. */
function definedTools(content: unknown): readonly JsonObject[] {
  const blocks = objectsIn(content);
  return [...blocks, ...blocks.flatMap((block) => objectsIn(block['tool_changes']))].flatMap(({ tool }) => {
    const definition = isJsonObject(tool) ? tool['definition'] : undefined;
    return isJsonObject(definition) ? [definition] : [];
  });
}

const objectsIn = (list: unknown): readonly JsonObject[] =>
  Array.isArray(list) ? (list as readonly unknown[]).filter(isJsonObject) : [];

/** Whether `context_management` compacts; other edits only remove content. */
export function compacts(value: unknown): boolean {
  const edits = isJsonObject(value) ? value['edits'] : value;
  return (
    Array.isArray(edits) && edits.some((edit) => isJsonObject(edit) && stringOf(edit['type']).startsWith('compact'))
  );
}

/** Containers are reused by ID; the vendor's skills are public, custom ones belong to the upstream account. */
function containerIds(value: unknown): ReturnType<typeof scopedIn> {
  if (!isJsonObject(value)) return scopedIn('container', value);
  const skills = Array.isArray(value['skills']) ? value['skills'].filter(isJsonObject) : [];
  const custom = skills.filter(({ type }) => type !== 'anthropic');
  return [...scopedIn('container', value['id']), ...custom.flatMap(({ skill_id: id }) => scopedIn('skill', id))];
}
