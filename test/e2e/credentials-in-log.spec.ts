import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { aRequest, DIALECTS, PATHS } from '../support/dialects.js';
import { errorAnswer, jsonAnswer, ScriptedUpstream } from '../support/scripted-upstream.js';
import { Service } from '../support/service.js';
import { removeDataDir } from '../support/temporary-data-dir.js';

const SECRET = 'sk-upstream-that-nobody-may-read-0a1b2c3d';

describe('the credential of a channel', () => {
  let upstream: ScriptedUpstream;
  let service: Service;

  beforeAll(async () => {
    upstream = await ScriptedUpstream.start();
    service = await Service.start(undefined, { LOG_LEVEL: 'trace' });
  }, 120_000);
  afterAll(async () => {
    await service.stop();
    await upstream.close();
    removeDataDir(service.dataDir);
  });

  const catalog = (protocol: string): string => `
models:
  - { name: large-${protocol}, context_window: 200000, max_output_tokens: 64000, prices: free }
channels:
  - { name: ${protocol}, protocol: ${protocol}, base_url: "${upstream.url}", credentials: ["${SECRET}"], models: [large-${protocol}] }
`;
  const ask = (dialect: (typeof DIALECTS)[number]): Promise<Response> =>
    fetch(`${service.address}${PATHS[dialect]}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${/sk-\w{48}/.exec(service.output)![0]}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(aRequest(dialect, { model: `large-${dialect}` })),
    });

  it('is in no line of the log, no answer of a command and no error of a call, even where the upstream repeats it', async () => {
    const said: string[] = [];
    for (const dialect of DIALECTS) {
      const file = join(service.dataDir, `${dialect}.yaml`);
      writeFileSync(file, catalog(dialect));
      upstream.script(jsonAnswer(401, { error: { message: `Incorrect API key provided: ${SECRET}` } }));
      const applied = await service.command('catalog', 'apply', file, '--check');
      said.push(applied.stdout, applied.stderr, await (await ask(dialect)).text());
      upstream.script(errorAnswer(dialect, 500));
      said.push(await (await ask(dialect)).text());
    }
    const exported = await service.command('catalog', 'export');
    said.push(exported.stdout, exported.stderr);
    expect(upstream.requests.some(({ headers }) => JSON.stringify(headers).includes(SECRET))).toBe(true);
    expect(said.join('\n')).not.toContain(SECRET);
    expect(service.output).not.toContain(SECRET);
    expect(service.output).toContain('upstream_auth');
  }, 60_000);
});
