import { describeResponses } from './answers.js';
import type { ProtocolUnderTest } from './protocol-under-test.js';
import { describeRequests } from './requests.js';
import { describeVerbatim } from './verbatim.js';

/** For protocols with both halves: what one half writes, the other reads as the same. */
export function describeBothHalves(underTest: ProtocolUnderTest): void {
  describe(`${underTest.protocol.id}, both halves`, () => {
    describe('answers', () => {
      describeResponses(underTest);
    });
    describe('requests', () => {
      describeRequests(underTest);
    });
    describe('verbatim lane', () => {
      describeVerbatim(underTest);
    });
  });
}
