/** Heads of calls, and what is rejected before admission. */

import { AppError } from '../../../src/platform/shared/index.js';
import { aRequestLine, refusalOf } from '../../support/calls.js';
import type { JsonObject } from '../../support/scripted-steps.js';
import type { Abilities, Check } from '../abilities.js';
import { ANSWERED_CALLS, HELLO, SCHEMA } from '../examples.js';
import type { ClientAbility } from './ability.js';
import type { ClientHalf } from './half.js';
import { bodyOf, contentOf, headOf, lineOf } from './client-calls.js';

type Heads = Extract<ClientAbility, 'head' | 'invalid requests'>;

export const heads = (half: ClientHalf): Abilities<Heads> => ({
  head: { checks: [addressed(half), ...read(half), ...modelChecks(half), notAnObject(half), members(half)] },
  'invalid requests': { checks: [odd(half)] },
});

const addressed = (half: ClientHalf): Check => ({
  name: "receives calls at the client's path",
  run() {
    expect(half.protocol.id).toBe(half.client.id);
    expect(half.protocol.callPaths).toContain(half.client.path);
    expect(half.protocol.claims(lineOf(half))).toBe(true);
    expect(half.protocol.claims(aRequestLine({ method: 'POST', path: '/v1/of-another-protocol' }))).toBe(false);
  },
});

const read = (half: ClientHalf): Check[] => [
  ...[true, false].map((stream) => ({
    name: `reads model, limit and that the response is ${stream ? 'streamed' : 'unstreamed'}`,
    run() {
      expect(headOf(half, bodyOf(half, HELLO, stream), stream)).toMatchObject({
        model: 'm',
        stream,
        outputLimit: 500,
        choices: 1,
      });
    },
  })),
  {
    name: 'reads the same head from chunks',
    run() {
      const bytes = Buffer.from(bodyOf(half, ANSWERED_CALLS, true));
      const reader = half.protocol.headReader(lineOf(half));
      for (let end = 1; end <= bytes.length; end += 7) reader.next(bytes.subarray(0, end));
      const { fields: _, ...head } = reader.end({ bytes });
      const { fields: __, ...whole } = headOf(half, bytes.toString());
      expect(head).toEqual(whole);
    },
  },
];

const modelChecks = (half: ClientHalf): Check[] =>
  half.client.address === undefined ? modelsRefused(half) : [modelAddressed(half)];

const modelAddressed = (half: ClientHalf): Check => ({
  name: 'reads the model from the URL, whatever the body names',
  run() {
    expect(headOf(half, bodyOf(half, HELLO, false, { model: 'other' }))).toMatchObject({ model: 'm' });
  },
});

const modelsRefused = (half: ClientHalf): Check[] => [
  refusedFor(half, 'rejects a body without a model', 'model', (body) => ({ ...body, model: undefined })),
  refusedFor(half, 'rejects an invalid model name', 'model', (body) => ({ ...body, model: 7 })),
  ...['"model"', '"mod\\u0065l"'].map((spelling): Check => ({
    name: `rejects a duplicate model, so that nobody reads another one: ${spelling}`,
    run() {
      const body = `{${spelling}:"other",${bodyOf(half, HELLO).slice(1)}`;
      expectRefusal(() => headOf(half, body), 'model');
    },
  })),
];

const notAnObject = (half: ClientHalf): Check => ({
  name: 'rejects a body that is not a JSON object',
  run() {
    for (const body of ['', '{', '[]', 'null', '"m"', `${bodyOf(half, HELLO)}}`, bodyOf(half, HELLO).slice(0, -1)]) {
      expect([body, refusalOf(() => headOf(half, body)).kind]).toEqual([body, 'invalid_request']);
    }
  },
});

const UNKNOWN = 'a_member_of_no_vendor';

/** Unknown members can only be reported with a table. */
const members = (half: ClientHalf): Check => ({
  name: 'lists members missing in its table, and no others',
  run() {
    const unknownIn = (more: JsonObject): readonly string[] => {
      const body = { ...(JSON.parse(bodyOf(half, HELLO)) as JsonObject), ...more };
      return headOf(half, JSON.stringify(body)).demands?.unknownMembers ?? [];
    };
    if (!unknownIn({ [UNKNOWN]: 1 }).includes(UNKNOWN))
      throw new Error(
        `${half.protocol.id} has no table of request members: write ${half.protocol.id}.members.ts, take the interests ` +
          "of the head from interestsOf(table), and set the head's demands by a MemberReader (docs/adding-a-protocol.md).",
      );
    expect(unknownIn({})).toEqual([]);
  },
});

const refusedFor = (
  half: ClientHalf,
  name: string,
  param: string,
  change: (body: JsonObject) => JsonObject,
): Check => ({
  name,
  run() {
    const body = JSON.stringify(change(JSON.parse(bodyOf(half, HELLO)) as JsonObject));
    expectRefusal(() => headOf(half, body), param);
  },
});

function expectRefusal(work: () => unknown, param: string): void {
  expect(refusalOf(work)).toMatchObject({ kind: 'invalid_request', details: { param } });
}

const ODD_VALUES = [null, true, 7, -1, 1e300, '', 'x', [], [7], [null], [{}], {}, { type: 7 }, { type: 'x' }];

/** Any request is read, or rejected naming a member. */
const odd = (half: ClientHalf): Check => ({
  name: 'parses or rejects malformed members by name',
  run() {
    const body = JSON.parse(
      bodyOf(half, { ...ANSWERED_CALLS, system: 'Be brief.', schema: SCHEMA, isSerial: true }),
    ) as JsonObject;
    for (const member of Object.keys(body)) {
      for (const value of ODD_VALUES) {
        const fault = faultOf(half, JSON.stringify({ ...body, [member]: value }));
        if (fault !== undefined)
          expect([member, value, fault]).toEqual([member, value, expect.stringContaining(member)]);
      }
    }
  },
});

/** The rejected member; undefined if the request can be read. */
function faultOf(half: ClientHalf, body: string): string | undefined {
  try {
    contentOf(half, body);
    return undefined;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect(error.kind).toBe('invalid_request');
    return error.details.param ?? 'nothing that has a name';
  }
}
