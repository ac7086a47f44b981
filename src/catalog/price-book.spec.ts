import { bookModels } from './price-book.js';

const NOW = new Date('2026-11-27T12:00:00Z');
const OPENAI = { book: 'openai', baseUrl: 'https://api.openai.com/v1' };

const found = async (name: string, seller: Parameters<typeof bookModels>[1] = OPENAI) =>
  (await bookModels([name], seller, NOW)).get(name);

// The expected prices are those that vendors published, as in examples/.
describe('the price book', () => {
  it('has prices with tiers from the prompt token at which they begin', async () => {
    expect(await found('gpt-5.5')).toEqual({
      displayName: 'GPT-5.5',
      seller: 'OpenAI',
      contextWindow: 1_000_000,
      prices: {
        tiers: [
          { fromPromptTokens: 0, input: '5', cache_read: '0.5', output: '30' },
          { fromPromptTokens: 272_000, input: '10', cache_read: '1', output: '45' },
        ],
        toolFees: { web_search: '0.01', file_search: '0.0025' },
        requestFee: undefined,
      },
    });
  });

  it('leaves out tiers that no prompt can reach', async () => {
    const model = await found('claude-sonnet-4-5', { book: 'anthropic', baseUrl: '' });
    expect(model?.prices?.tiers).toEqual([
      { fromPromptTokens: 0, input: '3', cache_read: '0.3', cache_write_5m: '3.75', cache_write_1h: '6', output: '15' },
    ]);
  });

  it('has the most expensive price where it depends on the time of day', async () => {
    const model = await found('deepseek-v4-flash', { book: 'deepseek', baseUrl: '' });
    expect(model?.prices?.tiers).toEqual([{ fromPromptTokens: 0, input: '0.44', cache_read: '0.014', output: '1.32' }]);
  });

  it('finds the seller by its address, or else the maker by the model', async () => {
    expect(await found('gpt-5.5', { baseUrl: 'http://127.0.0.1:9/v1' })).toMatchObject({ seller: 'OpenAI' });
    const model = await found('Qwen/Qwen1.5-0.5B', { baseUrl: 'https://api.together.xyz/v1' });
    expect(model).toMatchObject({ seller: 'Together AI' });
  });

  it('says nothing of unknown models, and has no price of 0 for an unknown one', async () => {
    expect(await found('our-own-model')).toBeUndefined();
    const free = await found('agentica-org/deepcoder-14b-preview:free', { book: 'openrouter', baseUrl: '' });
    expect(free).toMatchObject({ seller: 'OpenRouter', prices: undefined });
  });
});
