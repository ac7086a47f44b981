import { describeBothHalves, describeUpstreamHalf } from '../../index.js';
import { bothHalves } from './both-halves.js';

describeUpstreamHalf(bothHalves);
describeBothHalves(bothHalves);
