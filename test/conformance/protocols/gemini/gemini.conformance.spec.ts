import { resolve } from 'node:path';
import { describeBothHalves, describeClientHalf, describeUpstreamHalf } from '../../index.js';
import { bothHalves } from './both-halves.js';

const fixtures = resolve(import.meta.dirname, 'fixtures');

describeClientHalf({ ...bothHalves, fixtures: resolve(fixtures, 'client') });
describeUpstreamHalf({ ...bothHalves, fixtures: resolve(fixtures, 'upstream') });
describeBothHalves(bothHalves);
