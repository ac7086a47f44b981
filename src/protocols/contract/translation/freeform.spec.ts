import { describeFreeform, unwrapFreeform, wrapFreeform } from './tool-schema.js';

describe('freeform input', () => {
  it('is unwrapped as it was', () => {
    for (const text of ['', 'ls -l', '{"input":"a"}', 'é "\\"\n'])
      expect(unwrapFreeform(wrapFreeform(text))).toBe(text);
  });

  it('is unchanged when the model did not wrap it', () => {
    for (const text of ['', 'ls -l', 'null', '[]', '{"input":1}', '{"input":"cut'])
      expect(unwrapFreeform(text)).toBe(text);
  });

  it('is described with its grammar', () => {
    const grammar = { syntax: 'regex', definition: 'a+' };
    const note = 'The input must match this regex grammar:\na+';
    const tool = { name: 'f', schema: undefined, path: 'tools[0]' };
    expect(describeFreeform({ ...tool, freeform: { grammar } })).toBe(note);
    expect(describeFreeform({ ...tool, description: 'Runs.', freeform: { grammar } })).toBe(`Runs.\n\n${note}`);
    expect(describeFreeform({ ...tool, description: 'Runs.', freeform: {} })).toBe('Runs.');
  });
});
