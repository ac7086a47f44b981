import { type MemberTable, plainMembers, TOOLS } from '../../../src/protocols/contract/index.js';

/** Every member of a telegram, and what it does. */
export const TELEGRAPH_MEMBERS: MemberTable = {
  source: { package: 'telegraph', version: '1' },
  members: {
    ...plainMembers('model lines limit stream use'),
    tools: TOOLS,
  },
  tools: [],
  stateMembers: {},
};
