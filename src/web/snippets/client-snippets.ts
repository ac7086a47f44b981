import { anthropicSdk, claudeCode } from './anthropic-clients.js';
import type { ClientTab, Reachable, Told } from './client-tab.js';
import { codex, curl, cursor, javaScript, python } from './openai-clients.js';

/**
 * How each client is pointed to us, with a model that it can call in the dialect that it speaks.
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
      return undefined;
    },
  };
  return [curl(told), python(told), javaScript(told), anthropicSdk(told), claudeCode(told), codex(told), cursor(told)];
}
