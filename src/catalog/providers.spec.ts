import { PROVIDERS } from './providers.js';

const preset = (id: string) => PROVIDERS.find((provider) => provider.id === id)!;

describe('base URLs of cloud providers', () => {
  it.each([
    ['azure', { resource: 'house' }, 'https://house.openai.azure.com/openai/v1'],
    ['bedrock', { region: 'eu-central-1' }, 'https://bedrock-mantle.eu-central-1.api.aws/v1'],
    ['bedrock-claude', { region: 'us-east-1' }, 'https://bedrock-mantle.us-east-1.api.aws/anthropic/v1'],
    ['vertex', { project: '', location: '' }, 'https://aiplatform.googleapis.com/v1/publishers/google'],
    [
      'vertex',
      { project: 'house-project', location: '' },
      'https://aiplatform.googleapis.com/v1/projects/house-project/locations/global/publishers/google',
    ],
    [
      'vertex',
      { project: 'house-project', location: 'europe-west4' },
      'https://europe-west4-aiplatform.googleapis.com/v1/projects/house-project/locations/europe-west4/publishers/google',
    ],
  ])('%s with %j', (id, values, url) => {
    expect(preset(id).urlFrom?.(values)).toBe(url);
  });

  it.each([
    ['azure', ['house-1'], ['house.openai.azure.com', 'a/b', 'evil.test#', '']],
    ['bedrock', ['us-gov-west-1', 'ap-southeast-3'], ['eu', 'eu-central-1.evil.test', 'EU-CENTRAL-1']],
    ['vertex', ['house-project'], ['../x', 'house.test', 'Project']],
  ])('accept only names in the first field of %s', (id, valid, invalid) => {
    const pattern = preset(id).fields![0]!.pattern;
    expect(valid.filter((value) => !pattern.test(value))).toEqual([]);
    expect(invalid.filter((value) => pattern.test(value))).toEqual([]);
  });
});

describe('model families', () => {
  it('know Claude by the names of Bedrock', () => {
    const [newest] = preset('bedrock-claude').families!;
    expect(
      ['anthropic.claude-sonnet-5', 'eu.anthropic.claude-opus-4-6-v1:0'].map((name) => newest!.pattern.test(name)),
    ).toEqual([true, true]);
    const served = (name: string): boolean => preset('bedrock').served!.test(name);
    expect(['openai.gpt-oss-120b', 'anthropic.claude-sonnet-5', 'eu.anthropic.claude-opus-5'].map(served)).toEqual([
      true,
      false,
      false,
    ]);
  });
});
