import { type MemberTable, plainMembers, TOOLS } from '../../../src/protocols/contract/index.js';

/** All members of a telegram with their effects. */
export const TELEGRAPH_MEMBERS: MemberTable = {
  source: { package: 'telegraph', version: '1' },
  members: {
    ...plainMembers('model lines limit stream use'),
    tools: TOOLS,
  },
  tools: [],
  stateMembers: {},
};
