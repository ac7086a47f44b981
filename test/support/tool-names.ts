import type { JsonObject } from './scripted-steps.js';

/** What every vendor demands of the names of tools. @param longest in characters */
export function expectToolNames(tools: readonly JsonObject[], longest: number): void {
  for (const { name } of tools) {
    expect(name).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(String(name).length).toBeLessThanOrEqual(longest);
  }
}
