/** What judges answers here is what judges them in the tests, and that expects this of its surroundings. */

import { expect } from 'expect';

Object.assign(globalThis, { expect });
