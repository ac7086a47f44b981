import { generateCode, hashCode } from '../../platform/shared/index.js';

/** How many there are at first. */
const AT_FIRST = 10;
/** Characters of a code, without what stands between: 120 random bits, so that a plain hash of it will do. */
const LENGTH = 24;

/** Another set, as people store it: `0A1B-2C3D-…`, six groups of four. */
export const newRecoveryCodes = (): readonly string[] => Array.from({ length: AT_FIRST }, () => generateCode(LENGTH));

/** What is stored of a code, however it was typed; undefined when the text cannot be one. */
export const recoveryCodeHash = (typed: string): Buffer | undefined => hashCode(typed, LENGTH);
