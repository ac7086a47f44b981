import { describeAnswers } from './answers.js';
import type { ProtocolUnderTest } from './protocol-under-test.js';
import { describeRequests } from './requests.js';
import { describeVerbatim } from './verbatim.js';

/** For protocols with both halves: what one half writes, the other reads as the same. */
export function describeBothHalves(dialect: ProtocolUnderTest): void {
  describe(`${dialect.protocol.id}, both halves`, () => {
    describe('answers', () => {
      describeAnswers(dialect);
    });
    describe('requests', () => {
      describeRequests(dialect);
    });
    describe('verbatim lane', () => {
      describeVerbatim(dialect);
    });
  });
}
