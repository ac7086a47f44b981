import { nanos } from '../../platform/shared/index.js';
import { csvHeader, csvOf, type UsageRow } from './usage-export.js';

const aRow = (overrides: Partial<UsageRow> = {}): UsageRow => ({
  createdAt: new Date('2026-11-20T10:00:00.123Z'),
  id: 'req_1',
  account: 'ann@example.com',
  key: 'laptop',
  member: '',
  team: '',
  model: 'gpt-5.5',
  group: 'default',
  protocol: 'responses',
  upstreamProtocol: 'messages',
  channel: 'main',
  stream: true,
  status: 'succeeded',
  errorReason: '',
  promptTokens: 100,
  cachedTokens: 40,
  cacheWriteTokens: 0,
  completionTokens: 20,
  reasoningTokens: 5,
  cost: nanos(1500000n),
  billingBasis: 'reported',
  firstTokenMs: 250,
  durationMs: 900,
  attempts: 1,
  ip: '127.0.0.1',
  upstreamReport: null,
  result: 'completed',
  transport: 'http',
  position: '2026-11-20T10:00:00.123000Z',
  ...overrides,
});

describe('the usage CSV', () => {
  it('starts with the agreed columns', () => {
    expect(csvHeader()).toBe(
      'time,request_id,account,key,model,group,protocol,upstream_protocol,channel,stream,status,error_reason,' +
        'prompt_tokens,cached_tokens,cache_write_tokens,completion_tokens,reasoning_tokens,cost_usd,billing_basis,' +
        'first_token_ms,duration_ms,attempts,ip,upstream_report,result,transport,member,team\n',
    );
  });

  it('writes a row in the order of the columns, with the cost in plain dollars', () => {
    expect(csvOf([aRow()])).toBe(
      '2026-11-20T10:00:00.123Z,req_1,ann@example.com,laptop,gpt-5.5,default,responses,messages,main,true,succeeded,,' +
        '100,40,0,20,5,0.0015,reported,250,900,1,127.0.0.1,,completed,http,,\n',
    );
  });

  it('leaves unknown figures empty and keeps a zero', () => {
    const line = csvOf([aRow({ promptTokens: null, cachedTokens: 0, firstTokenMs: null, cost: nanos(0n) })]);
    expect(line).toContain(',succeeded,,,0,0,20,5,0,reported,,900,1,');
  });

  it('never writes an exponent', () => {
    expect(csvOf([aRow({ cost: nanos(1n) })])).toContain(',0.000000001,');
    expect(csvOf([aRow({ cost: nanos(9000000000000000000n) })])).toContain(',9000000000,');
  });

  it.each([
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\nlines', '"two\nlines"'],
    ['carriage\rreturn', '"carriage\rreturn"'],
    ['Grüße 漢字', 'Grüße 漢字'],
  ])('quotes %j as RFC 4180 says', (key, cell) => {
    expect(csvOf([aRow({ key })])).toContain(`,ann@example.com,${cell},gpt-5.5,`);
  });

  it.each([
    ['=1+1', "'=1+1"],
    ['+1 (555)', "'+1 (555)"],
    ['-x', "'-x"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['\r=1', `"'\r=1"`],
    ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
  ])('keeps a spreadsheet from running %j', (key, cell) => {
    expect(csvOf([aRow({ key })])).toContain(`,ann@example.com,${cell},gpt-5.5,`);
  });

  it.each(['-5', '+5', '-0.25', '42'])('leaves the plain number %s as it is', (key) => {
    expect(csvOf([aRow({ key })])).toContain(`,ann@example.com,${key},gpt-5.5,`);
  });

  it('ends every line with a line feed and writes nothing for no rows', () => {
    expect(csvOf([aRow(), aRow()]).split('\n')).toHaveLength(3);
    expect(csvOf([])).toBe('');
  });
});
