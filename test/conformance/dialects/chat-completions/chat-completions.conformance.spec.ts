import { describeBothHalves, describeClientHalf, describeUpstreamHalf } from '../../index.js';
import { bothHalves } from './both-halves.js';

describeClientHalf(bothHalves);
describeUpstreamHalf(bothHalves);
describeBothHalves(bothHalves);
