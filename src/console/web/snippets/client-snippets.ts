import { anthropicSdk, claudeCode } from './anthropic-clients.js';
import type { ClientTab, Reachable, Told } from './client-tab.js';
import { codex, curl, cursor, javaScript, opencode, python } from './openai-clients.js';

/**
 * How each client is pointed to us, with a model whose upstream speaks the client's dialect, where there is one.
 * @param baseUrl our address, without /v1
 * @param models the one to be shown first in front
 */
export function clientSnippets(baseUrl: string, models: readonly Reachable[]): readonly ClientTab[] {
  const told: Told = {
    baseUrl,
    modelIn: (...protocols) => {
      for (const protocol of protocols) {
        const model = models.find((one) => one.protocols.includes(protocol));
        if (model !== undefined) return { name: model.name, protocol };
      }
      const any = models.find(({ translates }) => translates);
      return any && { name: any.name, protocol: protocols[0] };
    },
  };
  return [curl, python, javaScript, anthropicSdk, claudeCode, codex, opencode, cursor].map((client) => client(told));
}
