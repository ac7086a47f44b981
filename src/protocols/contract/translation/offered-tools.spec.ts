import { refusalOf } from '../../../../test/support/calls.js';
import { cpuMs, LINEAR_MS } from '../../../../test/support/timing.js';
import { aContent } from '../../../../test/support/translations.js';
import type { HostedTool, Tool } from './content.js';
import { allowedTools, supportedHostedTools } from './tool-names.js';
import { TranslationWarnings } from './warnings.js';

const tool = (name: string): Tool => ({ name, schema: undefined, path: 'tools[0]' });
const hosted = (type: string, path: string): HostedTool => ({ type, path });
const isSearch = ({ type }: HostedTool): boolean => type === 'web_search';

describe('client tools', () => {
  it('are all allowed unless restricted (case 58)', () => {
    const tools = [tool('a'), tool('b'), tool('c')];
    const allowed = (toolChoice: Parameters<typeof allowedTools>[0]['toolChoice']): readonly string[] =>
      allowedTools({ tools, toolChoice }).map(({ name }) => name);
    expect(allowed({ mode: 'auto' })).toEqual(['a', 'b', 'c']);
    expect(allowed({ mode: 'one', name: 'b' })).toEqual(['a', 'b', 'c']);
    expect(allowed({ mode: 'required', allowed: ['c', 'a', 'x'] })).toEqual(['a', 'c']);
    expect(allowed({ mode: 'auto', allowed: [] })).toEqual([]);
  });

  it('may be very many', () => {
    const tools = Array.from({ length: 100_000 }, (_, index) => tool(`t${index}`));
    const names = tools.map(({ name }) => name).toReversed();
    const allowed = (): unknown[] => [...allowedTools({ tools, toolChoice: { mode: 'auto', allowed: names } })];
    expect(allowed()).toHaveLength(tools.length);
    expect(cpuMs(allowed)).toBeLessThan(LINEAR_MS);
  });

  it('are dropped if only the vendor runs them, and rejected if none is left', () => {
    const both = [hosted('mcp', 'tools[0]'), hosted('web_search', 'tools[1]')];
    const warnings = new TranslationWarnings(false);
    expect(supportedHostedTools(aContent({ hostedTools: both }), isSearch, warnings)).toEqual([both[1]]);
    expect(warnings.header).toBe('unsupported_tool:tools[0]');
    const none = [hosted('mcp', 'tools[0]'), hosted('shell', 'tools[1]')];
    expect(supportedHostedTools(aContent({ hostedTools: none, tools: [tool('a')] }), isSearch, warnings)).toEqual([]);
    const refusal = refusalOf(() => supportedHostedTools(aContent({ hostedTools: none }), isSearch, warnings));
    expect(refusal.message).toContain('is the hosted tool mcp, which');
    expect(refusal.details).toEqual({ param: 'tools[0]', fault: 'unsupported_parameter' });
  });
});
