import { idOf, modelListing } from './model-listing.js';

const read = (model: object) => modelListing({ list: 'data', nameOf: idOf }).read({ data: [{ id: 'm', ...model }] })[0];

describe('modelListing', () => {
  it.each([
    [
      'Anthropic',
      {
        display_name: 'Claude',
        max_input_tokens: 200_000,
        max_tokens: 64_000,
        capabilities: { image_input: { supported: true }, thinking: { supported: true, types: {} } },
      },
      { displayName: 'Claude', contextWindow: 200_000, maxOutputTokens: 64_000, capabilities: ['vision', 'reasoning'] },
    ],
    [
      'Gemini',
      { displayName: 'Flash', inputTokenLimit: 1_048_576, outputTokenLimit: 65_536, thinking: true },
      { displayName: 'Flash', contextWindow: 1_048_576, maxOutputTokens: 65_536, capabilities: ['reasoning'] },
    ],
    [
      'OpenRouter',
      {
        name: 'Vendor: Large',
        context_length: 128_000,
        top_provider: { max_completion_tokens: 16_384 },
        architecture: { input_modalities: ['text', 'image'] },
        supported_parameters: ['tools', 'reasoning'],
      },
      {
        displayName: 'Vendor: Large',
        contextWindow: 128_000,
        maxOutputTokens: 16_384,
        capabilities: ['vision', 'tools', 'reasoning'],
      },
    ],
    [
      'Mistral',
      { max_context_length: 32_768, capabilities: { vision: false, function_calling: true } },
      { contextWindow: 32_768, capabilities: ['tools'] },
    ],
    [
      'Groq',
      { context_window: 131_072, max_completion_tokens: 32_768 },
      { contextWindow: 131_072, maxOutputTokens: 32_768, capabilities: [] },
    ],
    ['a vendor that states nothing', { owned_by: 'vendor' }, { capabilities: [] }],
    [
      'a vendor that states nonsense',
      { name: '', context_length: 0, max_tokens: '9', top_provider: null, capabilities: ['x'], architecture: 3 },
      { capabilities: [] },
    ],
  ])('reads what %s states about a model', (_, model, facts) => {
    expect(read(model)).toEqual({ name: 'm', ...facts });
  });
});
