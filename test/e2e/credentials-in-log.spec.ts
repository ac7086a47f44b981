import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dumpOf } from '../support/database-dump.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { bytes, end, errorResponse, head, jsonAnswer, ScriptedUpstream } from '../support/scripted-upstream.js';
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
  const QUOTING = `
models:
  - { name: quoting, context_window: 200000, max_output_tokens: 64000, prices: free }
channels:
${PROTOCOLS.map((protocol) => `  - { name: quoting-${protocol}, protocol: ${protocol}, base_url: "URL", credentials: [c], models: [quoting], flags: { nativeOnly: true } }`).join('\n')}
`;
  const ask = (protocol: (typeof PROTOCOLS)[number], model = `large-${protocol}`): Promise<Response> =>
    fetch(`${service.address}${PATHS[protocol]}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${/sk-\w{48}/.exec(service.output)![0]}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(aRequest(protocol, { model })),
    });

  it('is in no line of the log, no response of a command and no error of a call, even where the upstream repeats it', async () => {
    const said: string[] = [];
    for (const protocol of PROTOCOLS) {
      const file = join(service.dataDir, `${protocol}.yaml`);
      writeFileSync(file, catalog(protocol));
      upstream.script(jsonAnswer(401, { error: { message: `Incorrect API key provided: ${SECRET}` } }));
      const applied = await service.command('catalog', 'apply', file, '--check');
      said.push(applied.stdout, applied.stderr, await (await ask(protocol)).text());
      upstream.script(errorResponse(protocol, 500));
      said.push(await (await ask(protocol)).text());
    }
    const exported = await service.command('catalog', 'export');
    said.push(exported.stdout, exported.stderr);
    expect(upstream.requests.some(({ headers }) => JSON.stringify(headers).includes(SECRET))).toBe(true);
    expect(said.join('\n')).not.toContain(SECRET);
    expect(service.output).not.toContain(SECRET);
    expect(service.output).toContain('upstream_auth');
  }, 60_000);

  it('is not the only secret: a prompt that an upstream quotes in an error is neither logged nor stored', async () => {
    const marker = 'the-wombat-flies-at-midnight';
    const quotes = [
      jsonAnswer(400, {
        error: { message: `Invalid prompt: "${marker}" is not allowed.`, type: 'invalid_request_error' },
      }),
      jsonAnswer(400, {
        error: { message: 'Unknown parameter.', param: `metadata.${marker}`, code: 'unknown_parameter' },
      }),
      jsonAnswer(400, { error: { message: `Flagged by the content policy: ${marker}`, code: marker } }),
      jsonAnswer(422, { detail: `Unusable: ${marker}` }),
      jsonAnswer(500, { error: { message: `Failed on ${marker}`, type: marker } }),
      [head(400, { 'content-type': 'text/plain' }), bytes(`Bad input: ${marker}`), end()],
      jsonAnswer(200, { error: { message: `Inner: ${marker}`, type: 'invalid_request_error' } }),
    ];
    const file = join(service.dataDir, 'quoting.yaml');
    writeFileSync(file, QUOTING.replaceAll('URL', upstream.url));
    await service.command('catalog', 'apply', file);
    const reported: string[] = [];
    for (const protocol of PROTOCOLS)
      for (const script of quotes) {
        upstream.script(script);
        reported.push(await (await ask(protocol, 'quoting')).text());
      }
    const rows = await service.query<{ error_message: string }>(
      "SELECT error_message FROM calls WHERE error_message LIKE 'The upstream%'",
    );
    // The client wrote it and is told; the log of calls has the status and what it is about.
    expect(reported.filter((text) => text.includes(marker)).length).toBeGreaterThanOrEqual(4 * PROTOCOLS.length);
    expect(rows.map((row) => row.error_message)).toContain(
      'The upstream rejected the request: status 400, about refused content.',
    );
    expect(await dumpOf((sql) => service.query(sql))).not.toContain(marker);
    expect(service.output).not.toContain(marker);
  }, 60_000);
});
